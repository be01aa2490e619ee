import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { WebhookFormat } from '../../../../contract/webhook-formats.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import type { DeliveryAttempt } from '../webhooks-types.ts'

type Columns = TenantTables['hub.webhook_deliveries']

/** Assigns this many sequences to each endpoint, and returns the last one of each. */
export async function takeSequences(tx: TenantTx, counts: ReadonlyMap<string, number>): Promise<Map<string, number>> {
  // Every change of several endpoints uses the order of their ids, so that no two transactions deadlock.
  const inOrder = [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  const { rows } = await tx.client.query<{ webhook_id: string; last_sequence: number }>(
    `insert into hub.webhook_progress (tenant_id, webhook_id, last_sequence, failures)
     select $1, webhook_id, n, 0 from unnest($2::text[], $3::bigint[]) as taken (webhook_id, n)
     on conflict (tenant_id, webhook_id) do update set last_sequence = webhook_progress.last_sequence + excluded.last_sequence
     returning webhook_id, last_sequence`,
    [tx.tenantId, inOrder.map(([id]) => id), inOrder.map(([, count]) => count)],
  )
  return new Map(rows.map(({ webhook_id, last_sequence }) => [webhook_id, last_sequence]))
}

/** A message, and one delivery for each of its endpoints. */
export interface NewDeliveries {
  message: Pick<Columns, 'message_id' | 'kind' | 'occurred_at'> & {
    data: string
    record_id: string | undefined
    user_id: string | undefined
  }
  deliveries: { delivery_id: string; webhook_id: string; sequence: number }[]
}

/** Limits of one statement, or of one message. */
const mostAtOnce = { deliveries: 1_000, bytes: 512 * 1024 }

/** Splits deliveries into parts for {@link insertDeliveries}. */
export function* statementsOf(batch: readonly NewDeliveries[]): Iterable<NewDeliveries[]> {
  let some: NewDeliveries[] = []
  let count = 0
  let bytes = 0
  for (const each of batch) {
    some.push(each)
    count += each.deliveries.length
    bytes += each.message.data.length
    if (count < mostAtOnce.deliveries && bytes < mostAtOnce.bytes) continue
    yield some
    some = []
    count = 0
    bytes = 0
  }
  if (some.length > 0) yield some
}

/**
 * Inserts deliveries that are due at once, by the clock of the database. The data of a message is sent once, regardless
 * of the number of endpoints.
 */
export async function insertDeliveries(tx: TenantTx, batch: readonly NewDeliveries[]): Promise<void> {
  const messages = batch.map(({ message }, place) => ({ place, ...message }))
  const deliveries = batch.flatMap((each, place) => each.deliveries.map((delivery) => ({ place, ...delivery })))
  await tx.client.query(
    `insert into hub.webhook_deliveries (tenant_id, delivery_id, webhook_id, sequence, message_id, kind, occurred_at,
       data, record_id, user_id, status, tries, attempt_count, next_attempt_at, attempts, created_at)
     select $1, d.delivery_id, d.webhook_id, d.sequence, m.message_id, m.kind, m.occurred_at,
       m.data, m.record_id, m.user_id, 'pending', 0, 0, now(), '[]', now()
     from json_to_recordset($2::json) as m (place int, message_id uuid, kind text, occurred_at timestamptz, data text,
         record_id uuid, user_id text)
       join json_to_recordset($3::json) as d (place int, delivery_id uuid, webhook_id text, sequence bigint)
         on d.place = m.place
     on conflict (tenant_id, delivery_id) do nothing`,
    [tx.tenantId, JSON.stringify(messages), JSON.stringify(deliveries)],
  )
}

/** An endpoint, its lease, and its waiting deliveries. */
export interface EndpointState {
  webhook_id: string
  url: string
  format: WebhookFormat
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
    text: `select w.webhook_id, w.url, w.format, w.updated_at || ' ' || coalesce(w.former_secret_until > $2, false) as version,
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

/** The columns of a delivery that its message body contains. `data` is JSON text, and null once it was erased. */
export type MessageRow = Pick<Columns, 'message_id' | 'kind' | 'occurred_at' | 'sequence' | 'data'>

/** A delivery that is due for an attempt. `tries` counts the attempts since it was queued. */
export interface DueDelivery
  extends MessageRow,
    Pick<Columns, 'delivery_id' | 'webhook_id' | 'tries' | 'attempt_count'> {
  /** The stored attempts, the last one at the end. */
  attempts: DeliveryAttempt[]
  /** Its approximate size in memory. */
  bytes: number
}

/** The number of deliveries of an endpoint to read, and their total bytes; at least one is read. */
export interface Wanted {
  webhookId: string
  count: number
  bytes: number
}

const columns = `delivery_id, webhook_id, sequence, message_id, kind, occurred_at, data, tries, attempt_count, attempts`
/** `octet_length` of a text that is stored apart reads only its size. */
const bytes = `512 + 2 * coalesce(octet_length(data), 0)
  + case when attempt_count = 0 then 0 else 4 * octet_length(attempts::text) end as bytes`

/**
 * Reads the deliveries of each endpoint that have been due the longest, in a transaction of `inIndexOrder`.
 *
 * @param except deliveries that this process already holds
 */
export async function dueDeliveries(
  tx: TenantTx,
  wanted: readonly Wanted[],
  except: readonly string[],
): Promise<DueDelivery[]> {
  const { rows } = await tx.client.query<DueDelivery>(
    `select d.${columns.replaceAll(', ', ', d.')}, d.bytes from unnest($2::text[], $3::int[], $4::int[]) as wanted (webhook_id, n, bytes_max)
     cross join lateral (
       select * from (
         select *, sum(bytes) over (order by next_attempt_at, sequence rows unbounded preceding) - bytes as bytes_before
         from (
           select ${columns}, ${bytes}, next_attempt_at from hub.webhook_deliveries e
           where e.tenant_id = $1 and e.webhook_id = wanted.webhook_id and e.next_attempt_at <= now()
             and e.delivery_id <> all($5::uuid[])
           order by e.next_attempt_at, e.sequence limit wanted.n) oldest) measured
       where bytes_before < bytes_max) d`,
    [
      tx.tenantId,
      wanted.map(({ webhookId }) => webhookId),
      wanted.map(({ count }) => count),
      wanted.map(({ bytes }) => Math.max(1, Math.floor(bytes))),
      except,
    ],
  )
  return rows
}

/** Reads waiting tests. They are sent before everything else, and to disabled endpoints too. */
export async function dueTests(
  tx: TenantTx,
  webhookIds: readonly string[],
  except: readonly string[],
): Promise<DueDelivery[]> {
  const { rows } = await tx.client.query<DueDelivery>(
    `select ${columns}, ${bytes} from hub.webhook_deliveries
     where tenant_id = $1 and webhook_id = any($2::text[]) and kind = '${testEventKind}' and next_attempt_at <= now()
       and delivery_id <> all($3::uuid[])
     order by sequence limit 100`,
    [tx.tenantId, webhookIds, except],
  )
  return rows
}
