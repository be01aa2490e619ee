import { webhookOpenDeliveriesMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { DeliveryAttempt } from '../delivery-types.ts'
import type { Endpoints } from '../webhooks-types.ts'
import { beginBacklog, endBacklog, failOldest, openState } from './backlog-limit-store.ts'

/** Messages to an endpoint between two looks at how many wait: they may be so many more. */
export const messagesPerLook = 5_000
/** Given up in one transaction. */
const partMax = 2_000
/** The first of those that wait may be on their way. */
const sparedMax = 2_000

/** Keeps what waits for an endpoint within bounds. */
export interface BacklogLimit {
  /** Gives up what waits longest where more than the limit waits, and says so once, when it begins. */
  check(tenant: Tenant, webhookIds: readonly string[]): Promise<void>
}

/** Endpoints of which a look is due, given how many messages they got and the last sequence. */
export function dueForLook(counts: ReadonlyMap<string, number>, last: ReadonlyMap<string, number>): string[] {
  const looks = (sequence: number) => Math.floor(sequence / messagesPerLook)
  return [...counts].flatMap(([webhookId, count]) => {
    const to = last.get(webhookId) ?? 0
    return looks(to) > looks(to - count) ? [webhookId] : []
  })
}

/** @param openMax fewer in tests */
export function createBacklogLimit(
  deps: { database: Pick<Database, 'withTenant'>; endpoints: Pick<Endpoints, 'overflowed'> },
  openMax = webhookOpenDeliveriesMax,
): BacklogLimit {
  const { database, endpoints } = deps
  const spared = Math.min(sparedMax, Math.floor(openMax / 2))

  /** Answers whether there is more to give up. */
  async function part(tx: TenantTx, tenant: Tenant, webhookId: string): Promise<boolean> {
    const state = await openState(tx, webhookId, openMax + partMax)
    if (!state) return false
    const excess = state.open - openMax
    if (excess <= 0) {
      // Not at once, or what is near to the limit would be told of again and again.
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
