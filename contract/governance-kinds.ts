/** Kinds of the governance events that the service writes. Clients write their own, which begin with `custom.`. */
export const governanceKinds = [
  'alert.opened',
  'auth.access_refused',
  'auth.client_authorized',
  'auth.client_revoked',
  'auth.login',
  'auth.login_failed',
  'auth.logout',
  'auth.refresh_reuse_detected',
  'budget.threshold_reached',
  'cmek.key_created',
  'cmek.key_destroyed',
  'cmek.key_rotated',
  'connector.added',
  'hub.export_cancelled',
  'hub.export_created',
  'hub.export_downloaded',
  'hub.export_failed',
  'hub.legal_hold_applied',
  'hub.legal_hold_released',
  'hub.provisioned',
  'hub.record_hard_deleted',
  'hub.record_purged',
  'hub.record_restored',
  'hub.restored',
  'hub.tamper_detected',
  'rbac.archetype_assigned',
  'roster.scim_sync_cancelled',
  'roster.scim_sync_completed',
  'roster.scim_sync_confirmed',
  'roster.scim_sync_failed',
  'skill.entitlement_changed',
  'telemetry.rerated',
  'tenant.config_changed',
  'tenant.live',
  'webhook.disabled',
  'webhook.overflowed',
] as const
export type GovernanceKind = (typeof governanceKinds)[number]

/** Family of the kinds that clients write. */
export const customFamily = 'custom'

/** Kinds that clients may write. */
export const customKindPattern = '^custom\\.[A-Za-z0-9_.:-]{1,121}$'
const customKind = new RegExp(customKindPattern, 'u')

/** First parts of kinds, `custom` among them. */
export const governanceFamilies: readonly string[] = [
  ...new Set([customFamily, ...governanceKinds.map((kind) => kind.slice(0, kind.indexOf('.')))]),
].sort()

/** Whether a governance event may be of this kind. */
export function isGovernanceKind(kind: string): boolean {
  return (governanceKinds as readonly string[]).includes(kind) || customKind.test(kind)
}
