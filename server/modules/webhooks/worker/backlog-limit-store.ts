import { webhookAttemptsKept } from '../../../../contract/limits.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { DeliveryAttempt } from '../delivery-types.ts'

export interface OpenState {
  url: string
  overflowing_since: string | null
  /** Deliveries that wait for an attempt, counted up to a maximum. */
  open: number
}

/**
 * Returns the backlog of an endpoint; undefined if it is removed. It reads at most `max` entries of the index of due
 * deliveries.
 */
export async function openState(tx: TenantTx, webhookId: string, max: number): Promise<OpenState | undefined> {
  const { rows } = await tx.client.query<OpenState>(
    `select w.url, p.overflowing_since,
       (select count(*)::int from (
          select from hub.webhook_deliveries d
          where d.tenant_id = $1 and d.webhook_id = $2 and d.next_attempt_at is not null limit $3) waiting) as open
     from hub.webhook_progress p
       join hub.webhooks w on w.tenant_id = $1 and w.webhook_id = p.webhook_id
     where p.tenant_id = $1 and p.webhook_id = $2`,
    [tx.tenantId, webhookId, max],
  )
  return rows[0]
}

/** Marks the start of an overflow; returns false if it was marked before. */
export async function beginBacklog(tx: TenantTx, webhookId: string, at: string): Promise<boolean> {
  const { rowCount } = await tx.client.query(
    `update hub.webhook_progress set overflowing_since = $3
     where tenant_id = $1 and webhook_id = $2 and overflowing_since is null`,
    [tx.tenantId, webhookId, at],
  )
  return rowCount === 1
}

export async function endBacklog(tx: TenantTx, webhookId: string): Promise<void> {
  await tx.client.query(
    'update hub.webhook_progress set overflowing_since = null where tenant_id = $1 and webhook_id = $2',
    [tx.tenantId, webhookId],
  )
}

/**
 * Gives up the deliveries that would be attempted first, except the spared ones and tests, in a transaction of
 * `inIndexOrder`.
 *
 * @param attempt logged with each delivery as its attempt
 * @returns the number of deliveries
 */
export async function failOldest(
  tx: TenantTx,
  webhookId: string,
  { spared, count, attempt }: { spared: number; count: number; attempt: DeliveryAttempt },
): Promise<number> {
  const { rowCount } = await tx.client.query(
    `update hub.webhook_deliveries d
     set status = 'dead', next_attempt_at = null,
       attempts = case when jsonb_array_length(d.attempts) < $6::int then d.attempts else d.attempts - 0 end || $5::jsonb
     where d.tenant_id = $1 and d.delivery_id = any(array(
       select e.delivery_id from hub.webhook_deliveries e
       where e.tenant_id = $1 and e.webhook_id = $2 and e.next_attempt_at is not null and e.kind <> 'webhook.test'
       order by e.next_attempt_at, e.sequence offset $3 limit $4))`,
    [tx.tenantId, webhookId, spared, count, JSON.stringify([attempt]), webhookAttemptsKept],
  )
  return rowCount ?? 0
}
