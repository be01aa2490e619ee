import { webhookAttemptsKept } from '../../../../contract/limits.ts'
import type { TenantTx } from '../../../db/database.ts'
import { databaseTimes } from '../../../db/database-time.ts'
import { updateRows } from '../../../db/tenant-rows.ts'
import type { DeliveryAttempt, DeliveryStatus } from '../webhooks-types.ts'
import type { DueDelivery } from './delivery-queue-store.ts'

/** The outcome of an attempt. */
export interface Outcome {
  delivery: Pick<DueDelivery, 'delivery_id' | 'webhook_id' | 'tries' | 'attempt_count'>
  status: Exclude<DeliveryStatus, 'pending'>
  /** Seconds until the next attempt, for `failed`. */
  pauseSeconds?: number
  /** The log of all attempts; undefined if there was none. */
  attempts?: readonly DeliveryAttempt[]
  /** Whether the outcome says something about the receiver. */
  counts: boolean
  /** Whether the receiver states that it is gone for good. */
  isGone: boolean
}

/**
 * Saves outcomes, in one statement for all deliveries and one for all endpoints. A delivery that changed meanwhile
 * (queued again, erased, given up) keeps its state and only logs the attempt. Returns the endpoints that are gone, or
 * have failed for too long.
 */
export async function saveOutcomes(
  tx: TenantTx,
  outcomes: readonly Outcome[],
  failingHoursMax: number,
): Promise<Unfit> {
  const [now] = await databaseTimes(tx)
  const unfit = await countByEndpoint(tx, outcomes, now, failingHoursMax)
  const rows = outcomes.map(({ delivery, status, pauseSeconds, attempts }) => ({
    tenant_id: tx.tenantId,
    delivery_id: delivery.delivery_id,
    tries: delivery.tries,
    attempt_count: delivery.attempt_count,
    more: attempts ? 1 : 0,
    status,
    next_attempt_at: pauseSeconds === undefined ? null : new Date(Date.parse(now) + pauseSeconds * 1000).toISOString(),
    attempts: attempts ?? null,
    delivered_at: status === 'delivered' ? now : null,
  }))
  // The condition on the tenant is redundant, but with it PostgreSQL expects fewer rows, and so finds each delivery by
  // its key.
  const { rowCount } = await tx.client.query(
    `update hub.webhook_deliveries d
     set status = o.status, tries = d.tries + o.more, attempt_count = d.attempt_count + o.more,
       next_attempt_at = o.next_attempt_at, attempts = coalesce(o.attempts, d.attempts), delivered_at = o.delivered_at
     from json_to_recordset($2::json) as o (tenant_id text, delivery_id uuid, tries int, attempt_count int, more int,
       status text, next_attempt_at timestamptz, attempts jsonb, delivered_at timestamptz)
     where d.tenant_id = $1 and o.tenant_id = $1 and d.delivery_id = o.delivery_id and d.next_attempt_at is not null
       and d.tries = o.tries and d.attempt_count = o.attempt_count`,
    [tx.tenantId, JSON.stringify(rows)],
  )
  if ((rowCount ?? 0) < rows.length) await logAttempts(tx, outcomes, now)
  return unfit
}

/**
 * Logs attempts of deliveries that changed in transit; the others already count one more. The response of a receiver to
 * an erased message is not stored.
 */
async function logAttempts(tx: TenantTx, outcomes: readonly Outcome[], now: string): Promise<void> {
  const rows = outcomes.flatMap(({ delivery: { delivery_id, attempt_count }, status, attempts }) =>
    attempts ? [{ tenant_id: tx.tenantId, delivery_id, attempt_count, status, attempt: attempts.at(-1) }] : [],
  )
  await tx.client.query(
    `update hub.webhook_deliveries d
     set attempt_count = d.attempt_count + 1,
       attempts = case when jsonb_array_length(d.attempts) >= $4 then d.attempts - 0 else d.attempts end
         || case when d.data is null then jsonb_set(o.attempt #- '{response,body}', '{response,headers}', '{}', false)
           else o.attempt end,
       status = case when o.status = 'delivered' and d.next_attempt_at is null then o.status else d.status end,
       delivered_at = case when o.status = 'delivered' and d.next_attempt_at is null then $3::timestamptz
         else d.delivered_at end
     from json_to_recordset($2::json) as o (tenant_id text, delivery_id uuid, attempt_count int, status text, attempt jsonb)
     where d.tenant_id = $1 and o.tenant_id = $1 and d.delivery_id = o.delivery_id and d.attempt_count = o.attempt_count`,
    [tx.tenantId, JSON.stringify(rows), now, webhookAttemptsKept],
  )
}

/** Ids of endpoints to disable. */
export interface Unfit {
  gone: string[]
  /** Those that failed for too long. */
  failing: string[]
}

/**
 * Counts consecutive failures: those after the last success, or else those from before too. The response of a receiver
 * at a former address says nothing about the present one.
 */
async function countByEndpoint(
  tx: TenantTx,
  outcomes: readonly Outcome[],
  now: string,
  failingHoursMax: number,
): Promise<Unfit> {
  const counts = new Map<string, EndpointCount>()
  for (const { delivery, status, attempts, counts: isCounted, isGone } of outcomes) {
    if (!isCounted) continue
    const { webhook_id } = delivery
    const url = attempts?.at(-1)?.url ?? null
    const name = `${webhook_id} ${url}`
    const count = counts.get(name) ?? { webhook_id, url, succeeded: false, in_a_row: 0, is_gone: false }
    const hasSucceeded = status === 'delivered'
    count.succeeded ||= hasSucceeded
    count.in_a_row = hasSucceeded ? 0 : count.in_a_row + 1
    count.is_gone ||= isGone
    counts.set(name, count)
  }
  if (counts.size === 0) return { gone: [], failing: [] }
  const { rows } = await tx.client.query<{ webhook_id: string; is_gone: boolean; failed_too_long: boolean }>(
    `update hub.webhook_progress p
     set failures = case when o.succeeded then o.in_a_row else p.failures + o.in_a_row end,
       failing_since = case when o.in_a_row = 0 then null when o.succeeded then $3::timestamptz
         else coalesce(p.failing_since, $3::timestamptz) end,
       attempted_at = $3::timestamptz,
       delivered_at = case when o.succeeded then $3::timestamptz else p.delivered_at end
     from json_to_recordset($2::json)
         as o (webhook_id text, url text, succeeded bool, in_a_row int, is_gone bool)
       join hub.webhooks w on w.tenant_id = $1 and w.webhook_id = o.webhook_id
     where p.tenant_id = $1 and p.webhook_id = o.webhook_id and w.url = coalesce(o.url, w.url)
     returning p.webhook_id, o.is_gone, coalesce(p.failing_since <= $4::timestamptz, false) as failed_too_long`,
    [
      tx.tenantId,
      // Ids are in order, as in every change of several progresses, to avoid deadlocks.
      JSON.stringify([...counts.values()].sort((a, b) => (a.webhook_id < b.webhook_id ? -1 : 1))),
      now,
      new Date(Date.parse(now) - failingHoursMax * 3_600_000).toISOString(),
    ],
  )
  const idsOf = (some: typeof rows) => some.map(({ webhook_id }) => webhook_id)
  return {
    gone: idsOf(rows.filter(({ is_gone }) => is_gone)),
    failing: idsOf(rows.filter(({ is_gone, failed_too_long }) => failed_too_long && !is_gone)),
  }
}

/** The results of attempts to an endpoint at one address, in the names of the statement. */
interface EndpointCount {
  webhook_id: string
  url: string | null
  succeeded: boolean
  in_a_row: number
  is_gone: boolean
}

/**
 * Gives up a part of the deliveries of an endpoint that is gone or failed for too long, except tests. Does nothing at
 * other endpoints: deliveries of one that was disabled by hand continue later. Needs a transaction of `inIndexOrder`.
 * Returns whether more may remain.
 */
export async function giveUpDeliveries(tx: TenantTx, webhookId: string, count: number): Promise<boolean> {
  const { rowCount } = await tx.client.query(
    `update hub.webhook_deliveries d set status = 'dead', next_attempt_at = null
     where d.tenant_id = $1 and d.delivery_id = any(array(
       select e.delivery_id from hub.webhook_deliveries e
       where e.tenant_id = $1 and e.webhook_id = $2 and e.next_attempt_at is not null and e.kind <> 'webhook.test'
         and exists (
           select 1 from hub.webhooks w
           where w.tenant_id = $1 and w.webhook_id = $2 and w.disabled_reason in ('gone', 'failing'))
       order by e.next_attempt_at, e.sequence limit $3))`,
    [tx.tenantId, webhookId, count],
  )
  return rowCount === count
}

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
  await updateRows(tx, 'hub.webhook_progress', { webhook_id: webhookId }, { overflowing_since: null })
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
