import { webhookOpenDeliveriesMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { DeliveryAttempt } from '../delivery-types.ts'
import type { Endpoints } from '../webhooks-types.ts'
import { beginBacklog, endBacklog, failOldest, openState } from './backlog-limit-store.ts'

/** Messages to an endpoint between two checks of its backlog, which may exceed the limit by as many. */
export const messagesPerLook = 5_000
/** Maximum number of deliveries given up in one transaction. */
const partMax = 2_000
/** Maximum number of the first waiting deliveries that are spared, because they may be in transit. */
const sparedMax = 2_000

/** Limits the backlog of each endpoint. */
export interface BacklogLimit {
  /** Gives up the oldest waiting deliveries above the limit, and writes one event when that starts. */
  check(tenant: Tenant, webhookIds: readonly string[]): Promise<void>
}

/** Returns the endpoints due for a check, given the number of their new messages and their last sequence. */
export function dueForLook(counts: ReadonlyMap<string, number>, last: ReadonlyMap<string, number>): string[] {
  const looks = (sequence: number) => Math.floor(sequence / messagesPerLook)
  return [...counts].flatMap(([webhookId, count]) => {
    const to = last.get(webhookId) ?? 0
    return looks(to) > looks(to - count) ? [webhookId] : []
  })
}

/** @param openMax the limit; tests lower it */
export function createBacklogLimit(
  deps: { database: Pick<Database, 'withTenant'>; endpoints: Pick<Endpoints, 'overflowed'> },
  openMax = webhookOpenDeliveriesMax,
): BacklogLimit {
  const { database, endpoints } = deps
  const spared = Math.min(sparedMax, Math.floor(openMax / 2))

  /** Gives up a part, and returns whether more remain. */
  async function part(tx: TenantTx, tenant: Tenant, webhookId: string): Promise<boolean> {
    const state = await openState(tx, webhookId, openMax + partMax)
    if (!state) return false
    const excess = state.open - openMax
    if (excess <= 0) {
      // The overflow ends at half of the limit; otherwise a backlog near the limit would cause event after event.
      if (state.overflowing_since !== null && state.open <= openMax / 2) await endBacklog(tx, webhookId)
      return false
    }
    const at = formatTimestamp(Date.now())
    const isNew = await beginBacklog(tx, webhookId, at)
    const attempt = noAttempt(state.url, at, openMax)
    const givenUp = await failOldest(tx, webhookId, { spared, count: excess, attempt })
    if (isNew) await endpoints.overflowed(tx, tenant, webhookId, openMax)
    return givenUp === partMax
  }

  return {
    async check(tenant, webhookIds) {
      for (const webhookId of webhookIds) {
        const run = (tx: TenantTx) => part(tx, tenant, webhookId)
        while (await database.withTenant(tenant.slug, run, { inIndexOrder: true }));
      }
    },
  }
}

function noAttempt(url: string, at: string, openMax: number): DeliveryAttempt {
  const detail = `Given up without a further attempt: more than ${openMax} messages waited for the endpoint.`
  return { at, duration_ms: 0, url, request_headers: {}, error: { code: 'overflow', detail } }
}
