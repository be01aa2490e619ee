import type { GovernanceKind } from '../../contract/governance-kinds.ts'

/** Titles of the events that the Hub writes: what happened, in words. */
const titles: Readonly<Record<GovernanceKind, string>> = {
  'alert.opened': 'Alert opened',
  'auth.access_refused': 'Access refused',
  'auth.client_authorized': 'Agent authorized',
  'auth.client_revoked': 'Agent authorization ended',
  'auth.login': 'Signed in',
  'auth.login_failed': 'Sign-in failed',
  'auth.logout': 'Signed out',
  'auth.refresh_reuse_detected': 'Session token used twice',
  'budget.threshold_reached': 'Budget threshold reached',
  'cmek.key_created': 'Encryption key created',
  'cmek.key_destroyed': 'Encryption key destroyed',
  'cmek.key_rotated': 'Encryption key rotated',
  'connector.added': 'Connector added',
  'hub.export_cancelled': 'Export cancelled',
  'hub.export_created': 'Export requested',
  'hub.export_downloaded': 'Export downloaded',
  'hub.export_failed': 'Export failed',
  'hub.legal_hold_applied': 'Legal hold placed',
  'hub.legal_hold_released': 'Legal hold released',
  'hub.provisioned': 'Hub provisioned',
  'hub.record_hard_deleted': 'Record erased',
  'hub.record_purged': 'Record purged',
  'hub.record_restored': 'Record restored',
  'hub.restored': 'Hub restored from a backup',
  'hub.tamper_detected': 'Altered record found',
  'rbac.archetype_assigned': 'Archetypes assigned',
  'roster.scim_sync_cancelled': 'Directory sync cancelled',
  'roster.scim_sync_completed': 'Directory sync completed',
  'roster.scim_sync_confirmed': 'Directory sync confirmed',
  'roster.scim_sync_failed': 'Directory sync failed',
  'skill.entitlement_changed': 'Skill grants changed',
  'telemetry.rerated': 'Costs recalculated',
  'tenant.config_changed': 'Configuration changed',
  'tenant.live': 'Tenant went live',
  'webhook.disabled': 'Webhook endpoint disabled',
  'webhook.overflowed': 'Webhook deliveries dropped',
}

/** Returns the title of a governance event: words for the kinds of the Hub, the kind itself for those of clients. */
export function titleOfEvent(kind: string): string {
  return Object.hasOwn(titles, kind) ? titles[kind as GovernanceKind] : kind
}
