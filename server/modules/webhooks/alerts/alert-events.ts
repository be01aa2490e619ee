import { alertEventsPerHour } from '../../../../contract/limits.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { newestEvents } from '../../../records/newest-events-store.ts'
import { type RecordClock, recordIdFloor } from '../../../records/record-clock.ts'
import type { GovernanceEvent, GovernanceLog } from '../../governance/governance-types.ts'
import type { AlertInstance } from './alert-rules.ts'

const hourMs = 3_600_000
const kind = 'alert.opened'

/**
 * Writes a governance event for each opened alert, at most `alertEventsPerHour` of a tenant within an hour: flapping
 * alerts must not fill the audit log. The caller holds the lock of alerts, so no other process writes such events
 * meanwhile.
 *
 * @param opened the alerts, those that exceed their limits most first
 */
export async function writeAlertEvents(
  tx: TenantTx,
  { governance, clock }: { governance: Pick<GovernanceLog, 'appendAll'>; clock: RecordClock },
  tenant: Tenant,
  webhookId: string,
  opened: readonly AlertInstance[],
): Promise<void> {
  if (opened.length === 0) return
  // Ids of events are compared, so the hour is measured by the clock that makes them.
  const fromId = recordIdFloor(Math.floor(clock.next().micros / 1000) - hourMs, 0)
  const written = (await newestEvents(tx, { kinds: [kind], fromId, perKind: alertEventsPerHour })).length
  const events = opened.slice(0, alertEventsPerHour - written).map((alert, at) => {
    return eventOf(webhookId, alert, written + at + 1 === alertEventsPerHour)
  })
  await governance.appendAll(tx, tenant, events)
}

/** Returns the event of an alert, without the key of a person: an event never changes, and a person can be erased. */
function eventOf(
  webhookId: string,
  { alertId, rule, key, value, invocations, openedAt }: AlertInstance,
  takesLastPlace: boolean,
): GovernanceEvent {
  return {
    ...{ kind, subject: `webhook:${webhookId}`, actor: { service: 'alerts' } },
    details: {
      ...{ alert_id: alertId, metric: rule.metric, group_by: rule.group_by },
      ...(rule.group_by !== 'user' && { key }),
      ...{ value, threshold: rule.above, window_minutes: rule.window_minutes, invocations, opened_at: openedAt },
      ...(takesLastPlace && { limit_reached: true }),
    },
  }
}
