import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { TenantTx } from '../../../db/database.ts'
import { databaseTimes } from '../../../db/database-time.ts'

/** An endpoint, its lease, and its waiting deliveries. */
export interface EndpointState {
  webhook_id: string
  url: string
  /** The version of its settings; it changes with them, and when its former secret expires. */
  version: string
  disabled_reason: 'by_hand' | 'gone' | 'failing' | null
  failures: number
  leased_by: string | null
  /** Milliseconds until its lease ends; negative once it has ended. */
  lease_ms: number | null
  has_due: boolean
  /** Milliseconds for which the oldest delivery has been due. */
  due_ms: number | null
  /** Whether a test waits. */
  has_test: boolean
  /** Milliseconds until the next delivery becomes due. */
  next_ms: number | null
}

/**
 * Returns the state of every endpoint that is not removed, in a transaction of `inIndexOrder`. Its cost does not grow
 * with the number of waiting or delivered messages.
 */
export async function endpointStates(tx: TenantTx): Promise<EndpointState[]> {
  const { rows } = await tx.client.query<EndpointState>({
    name: 'webhook_endpoint_states',
    text: `select w.webhook_id, w.url, w.updated_at || ' ' || coalesce(w.former_secret_until > $2, false) as version,
        w.disabled_reason, p.failures, p.leased_by,
        (extract(epoch from p.leased_until - now()) * 1000)::float8 as lease_ms,
        coalesce(o.next_attempt_at <= now(), false) as has_due,
        (extract(epoch from now() - o.next_attempt_at) * 1000)::float8 as due_ms,
        exists (
          select 1 from hub.webhook_deliveries t
          where t.tenant_id = $1 and t.webhook_id = w.webhook_id
            and t.kind = 'webhook.test' and t.next_attempt_at is not null) as has_test,
        (select (extract(epoch from n.next_attempt_at - now()) * 1000)::float8 from hub.webhook_deliveries n
          where n.tenant_id = $1 and n.webhook_id = w.webhook_id and n.next_attempt_at > now()
          order by n.next_attempt_at limit 1) as next_ms
      from hub.webhooks w
      join hub.webhook_progress p on p.tenant_id = $1 and p.webhook_id = w.webhook_id
      left join lateral (
        select d.next_attempt_at from hub.webhook_deliveries d
        where d.tenant_id = $1 and d.webhook_id = w.webhook_id and d.next_attempt_at is not null
        order by d.next_attempt_at limit 1) o on true
      where w.tenant_id = $1 and w.removed_at is null`,
    // Signing uses the same clock (see `isFormerGood`).
    values: [tx.tenantId, formatTimestamp(Date.now())],
  })
  return rows
}

/**
 * Leases free endpoints, and extends the leases of this process. Returns the endpoints it holds now: other processes
 * may have been faster.
 */
export async function leaseEndpoints(
  tx: TenantTx,
  webhookIds: readonly string[],
  lease: { by: string; seconds: number },
): Promise<Set<string>> {
  const [now, until] = await databaseTimes(tx, lease.seconds)
  const { rows: leased } = await tx.client.query<{ webhook_id: string }>(
    `update hub.webhook_progress set leased_by = $3, leased_until = $4
     where tenant_id = $1 and webhook_id = any($2::text[])
       and (leased_by is null or leased_by = $3 or leased_until <= $5)
     returning webhook_id`,
    [tx.tenantId, webhookIds.toSorted(), lease.by, until, now],
  )
  return new Set(leased.map(({ webhook_id }) => webhook_id))
}

/** Releases endpoints, so that another process, or this one, may continue at once. */
export async function releaseEndpoints(tx: TenantTx, webhookIds: readonly string[], by: string): Promise<void> {
  await tx.client.query(
    `update hub.webhook_progress set leased_by = null, leased_until = null
     where tenant_id = $1 and webhook_id = any($2::text[]) and leased_by = $3`,
    [tx.tenantId, webhookIds.toSorted(), by],
  )
}
