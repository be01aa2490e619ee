import type { GovernanceKind } from './governance-kinds.ts'

/** Kinds of the governance events that the web UI notifies about: something failed, stopped or reached a limit. */
export const notificationKinds = [
  'alert.opened',
  'auth.refresh_reuse_detected',
  'budget.threshold_reached',
  'hub.export_failed',
  'hub.tamper_detected',
  'roster.scim_sync_failed',
  'webhook.disabled',
  'webhook.overflowed',
] as const satisfies readonly GovernanceKind[]
