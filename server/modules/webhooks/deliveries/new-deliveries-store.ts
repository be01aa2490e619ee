import type { TenantTx } from '../../../db/database.ts'

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

/** A message in the names of the columns. */
export interface NewMessage {
  message_id: string
  kind: string
  occurred_at: string
  data: string
  record_id: string | undefined
  user_id: string | undefined
}

/** A message, and one delivery for each of its endpoints. */
export interface NewDeliveries {
  message: NewMessage
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
