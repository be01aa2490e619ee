import type pg from 'pg'

const columns = {
  message_id: 'gen_random_uuid()',
  kind: `'user.updated'`,
  occurred_at: 'now()',
  data: `'{}'`,
  record_id: 'null',
  status: `'delivered'`,
  tries: '0',
  attempt_count: '0',
  next_attempt_at: 'null',
  attempts: `'[]'`,
  created_at: 'now()',
  delivered_at: 'null',
}

export interface DeliveryRows {
  /** Sequence of the first one; 1 if absent. */
  from?: number
  count?: number
  /** Other values, in SQL, where `n` is the sequence. */
  values?: Partial<Record<keyof typeof columns, string>>
}

/** Deliveries as they stand in the database, delivered if nothing else is said; answers their ids. */
export async function insertDeliveries(
  client: Pick<pg.ClientBase, 'query'>,
  { tenant, webhookId }: { tenant: string; webhookId: string },
  { from = 1, count = 1, values = {} }: DeliveryRows,
): Promise<string[]> {
  const all = { ...columns, ...values }
  const { rows } = await client.query<{ delivery_id: string }>(
    `insert into hub.webhook_deliveries (tenant_id, webhook_id, delivery_id, sequence, ${Object.keys(all).join(', ')})
     select $1, $2, gen_random_uuid(), n, ${Object.values(all).join(', ')}
     from generate_series($3::int, $3::int + $4::int - 1) n
     returning delivery_id`,
    [tenant, webhookId, from, count],
  )
  return rows.map(({ delivery_id }) => delivery_id)
}

/** Gives the next sequence of an endpoint. */
export async function nextSequence(
  client: Pick<pg.ClientBase, 'query'>,
  { tenant, webhookId }: { tenant: string; webhookId: string },
): Promise<number> {
  const { rows } = await client.query<{ last_sequence: number }>(
    `update hub.webhook_progress set last_sequence = last_sequence + 1 where tenant_id = $1 and webhook_id = $2
     returning last_sequence`,
    [tenant, webhookId],
  )
  return Number(rows[0]!.last_sequence)
}
