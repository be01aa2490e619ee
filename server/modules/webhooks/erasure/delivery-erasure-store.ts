import type { TenantTx } from '../../../db/database.ts'

export interface DeliveriesAbout {
  recordIds: readonly string[]
  /** `user:…` */
  userIds: readonly string[]
}

/** Returns rows whose text contains any of the ids. */
export async function outboxNaming(
  tx: TenantTx,
  { recordIds, userIds }: DeliveriesAbout,
): Promise<{ outboxId: string; messages: string }[]> {
  const { rows } = await tx.client.query<[string, string]>({
    text: `select outbox_id, messages from hub.webhook_outbox
      where tenant_id = $1 and exists (select from unnest($2::text[]) as name where strpos(messages, name) > 0)
      order by outbox_id for update`,
    values: [tx.tenantId, [...recordIds, ...userIds].map((name) => JSON.stringify(name))],
    rowMode: 'array',
  })
  return rows.map(([outboxId, messages]) => ({ outboxId, messages }))
}

/** Strips the responses of receivers, which may repeat the message. */
const bareAttempts = `coalesce(
  (select jsonb_agg(
     case when e.attempt ? 'response'
       then jsonb_set(e.attempt #- '{response,body}', '{response,headers}', '{}') else e.attempt end order by e.place)
   from jsonb_array_elements(attempts) with ordinality as e (attempt, place)), '[]')`

/** Clients name their own kinds, so the name is erased with the event. */
const erasedKind = `case when kind like 'governance.custom.%' then 'governance.custom.erased' else kind end`

const erasure = `update hub.webhook_deliveries
  set data = null, user_id = null, kind = ${erasedKind}, attempts = ${bareAttempts}, next_attempt_at = null,
    status = case when status = 'delivered' then status else 'dead' end`

/** Erases the contents of deliveries. Pending ones become dead. */
export async function eraseDeliveries(tx: TenantTx, { recordIds, userIds }: DeliveriesAbout): Promise<void> {
  await tx.client.query(`${erasure} where tenant_id = $1 and record_id = any ($2::uuid[])`, [tx.tenantId, recordIds])
  if (userIds.length === 0) return
  await tx.client.query(`${erasure} where tenant_id = $1 and user_id = any ($2::text[])`, [tx.tenantId, userIds])
}

/** Returns rows after the given one, in order. */
export async function outboxAfter(
  tx: TenantTx,
  after: string | undefined,
  limit: number,
): Promise<{ outboxId: string; messages: string }[]> {
  const { rows } = await tx.client.query<[string, string]>({
    text: `select outbox_id, messages from hub.webhook_outbox
      where tenant_id = $1 and outbox_id > $2 order by outbox_id limit $3`,
    values: [tx.tenantId, after ?? firstIdAt(0), limit],
    rowMode: 'array',
  })
  return rows.map(([outboxId, messages]) => ({ outboxId, messages }))
}

/**
 * Erases the contents of deliveries about records of clients, in a batch after the given one. Returns the last id it
 * read; undefined if none is left. Columns that the record itself keeps stay.
 */
export async function destroyDeliveriesAfter(
  tx: TenantTx,
  after: string | undefined,
  limit: number,
): Promise<string | undefined> {
  const { rows } = await tx.client.query<{ last: string }>(
    `select delivery_id as last from hub.webhook_deliveries
     where tenant_id = $1 and delivery_id > $2 order by delivery_id offset $3 limit 1`,
    [tx.tenantId, after ?? firstIdAt(0), limit - 1],
  )
  await tx.client.query(
    `update hub.webhook_deliveries
     set data = null, attempts = ${bareAttempts}, next_attempt_at = null,
       status = case when status = 'delivered' then status else 'dead' end
     where tenant_id = $1 and delivery_id > $2 and ($3::uuid is null or delivery_id <= $3)
       and record_id is not null and data is not null
       and (kind like 'skill.%' or kind like 'governance.custom.%')`,
    [tx.tenantId, after ?? firstIdAt(0), rows[0]?.last],
  )
  return rows[0]?.last
}

/** Deletes the oldest deliveries before a time, and returns their number. */
export async function deleteDeliveriesBefore(tx: TenantTx, epochMs: number, limit: number): Promise<number> {
  const { rowCount } = await tx.client.query(
    `delete from hub.webhook_deliveries where tenant_id = $1 and delivery_id in (
       select d.delivery_id from hub.webhook_deliveries d where d.tenant_id = $1 and d.delivery_id < $2
       order by d.delivery_id limit $3)`,
    [tx.tenantId, firstIdAt(epochMs), limit],
  )
  return rowCount ?? 0
}

/** Deletes the oldest removed endpoints before a time, and returns their number. */
export async function deleteRemovedBefore(tx: TenantTx, before: string, limit: number): Promise<number> {
  const { rowCount } = await tx.client.query(
    `delete from hub.webhooks where tenant_id = $1 and webhook_id in (
       select w.webhook_id from hub.webhooks w where w.tenant_id = $1 and w.removed_at < $2
       order by w.removed_at limit $3)`,
    [tx.tenantId, before, limit],
  )
  return rowCount ?? 0
}

/** Returns the smallest delivery id of a time: ids begin with it (RFC 9562, section 5.7). */
function firstIdAt(epochMs: number): string {
  const ms = epochMs.toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-000000000000`
}
