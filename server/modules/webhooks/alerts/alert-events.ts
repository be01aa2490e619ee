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
 * Writes the governance events of alerts that open, in their transaction: at most so many of a tenant within an hour, so
 * that flapping alerts do not fill the audit log. The caller holds the lock of alerts, so no other process writes any.
 *
 * @param opened the alerts, those that exceed their limits most first
 */
export async function writeOpened(
  tx: TenantTx,
  { governance, clock }: { governance: Pick<GovernanceLog, 'appendAll'>; clock: RecordClock },
  tenant: Tenant,
  webhookId: string,
  opened: readonly AlertInstance[],
): Promise<void> {
  if (opened.length === 0) return
  // The clock of the records, because the ids of their events are compared.
  const fromId = recordIdFloor(Math.floor(clock.next().micros / 1000) - hourMs, 0)
  const written = (await newestEvents(tx, { kinds: [kind], fromId, count: alertEventsPerHour })).length
  const events = opened.slice(0, alertEventsPerHour - written).map((alert, at) => {
    return eventOf(webhookId, alert, written + at + 1 === alertEventsPerHour)
  })
  await governance.appendAll(tx, tenant, events)
}

/** Leaves the key out if it names a person: an event never changes, and a person can be erased. */
function eventOf(
  webhookId: string,
  { alertId, rule, key, value, invocations, openedAt }: AlertInstance,
  isLast: boolean,
): GovernanceEvent {
  return {
    ...{ kind, subject: `webhook:${webhookId}`, actor: { service: 'alerts' } },
    details: {
      ...{ alert_id: alertId, metric: rule.metric, group_by: rule.group_by },
      ...(rule.group_by !== 'user' && { key }),
      ...{ value, threshold: rule.above, window_minutes: rule.window_minutes, invocations, opened_at: openedAt },
      ...(isLast && { limit_reached: true }),
    },
  }
}
