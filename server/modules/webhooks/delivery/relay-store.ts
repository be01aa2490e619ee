import type { TenantTx } from '../../../db/database.ts'

export interface OutboxRow {
  outbox_id: string
  messages: string
}

export async function hasOutboxRows(tx: TenantTx): Promise<boolean> {
  const { rowCount } = await tx.client.query('select 1 from hub.webhook_outbox where tenant_id = $1 limit 1', [
    tx.tenantId,
  ])
  return rowCount === 1
}

/** The oldest: so many, and with so many bytes together, but at least one. */
export async function oldestOutboxRows(
  tx: TenantTx,
  most: { rows: number; bytes: number },
  except: readonly string[],
): Promise<OutboxRow[]> {
  const { rows } = await tx.client.query<OutboxRow>(
    `select outbox_id, messages
     from (
       select outbox_id, messages,
         sum(octet_length(messages)) over (order by outbox_id) - octet_length(messages) as bytes_before
       from (
         select outbox_id, messages from hub.webhook_outbox
         where tenant_id = $1 and outbox_id <> all($4::uuid[]) order by outbox_id limit $2) oldest
     ) measured
     where bytes_before <= $3 order by outbox_id`,
    [tx.tenantId, most.rows, most.bytes, except],
  )
  return rows
}

export async function deleteOutboxRows(tx: TenantTx, outboxIds: readonly string[]): Promise<void> {
  await tx.client.query('delete from hub.webhook_outbox where tenant_id = $1 and outbox_id = any($2::uuid[])', [
    tx.tenantId,
    outboxIds,
  ])
}

/** Gives so many sequences to each endpoint; answers the last one. */
export async function takeSequences(tx: TenantTx, counts: ReadonlyMap<string, number>): Promise<Map<string, number>> {
  const { rows } = await tx.client.query<{ webhook_id: string; last_sequence: number }>(
    `insert into hub.webhook_progress (tenant_id, webhook_id, last_sequence, failures)
     select $1, webhook_id, n, 0 from unnest($2::text[], $3::bigint[]) as taken (webhook_id, n)
     on conflict (tenant_id, webhook_id) do update set last_sequence = webhook_progress.last_sequence + excluded.last_sequence
     returning webhook_id, last_sequence`,
    [tx.tenantId, [...counts.keys()], [...counts.values()]],
  )
  return new Map(rows.map(({ webhook_id, last_sequence }) => [webhook_id, last_sequence]))
}

/** In the names of the columns. */
export interface NewDelivery {
  delivery_id: string
  webhook_id: string
  sequence: number
  message_id: string
  kind: string
  occurred_at: string
  data: string
  record_id?: string | undefined
  user_id?: string | undefined
}

/** Rows of one statement. */
const rowsAtOnce = 1_000

/** Due at once, by the clock of the database. */
export async function insertDeliveries(tx: TenantTx, deliveries: readonly NewDelivery[]): Promise<void> {
  for (let at = 0; at < deliveries.length; at += rowsAtOnce) {
    await tx.client.query(
      `insert into hub.webhook_deliveries (tenant_id, delivery_id, webhook_id, sequence, message_id, kind, occurred_at,
         data, record_id, user_id, status, tries, attempt_count, next_attempt_at, attempts, created_at)
       select $1, delivery_id, webhook_id, sequence, message_id, kind, occurred_at,
         data, record_id, user_id, 'pending', 0, 0, now(), '[]', now()
       from json_to_recordset($2::json) as made (delivery_id uuid, webhook_id text, sequence bigint, message_id uuid,
         kind text, occurred_at timestamptz, data text, record_id uuid, user_id text)
       on conflict (tenant_id, delivery_id) do nothing`,
      [tx.tenantId, JSON.stringify(deliveries.slice(at, at + rowsAtOnce))],
    )
  }
}
