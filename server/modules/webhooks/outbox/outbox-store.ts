import { webhooksLockClass } from '../../../db/advisory-locks.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { PreparedStatement } from '../../../db/ingest-script.ts'
import { lockTenant } from '../../../db/tenant-lock.ts'
import { updateRows } from '../../../db/tenant-rows.ts'

/** Returns the event names of the enabled endpoints, each name once. */
export async function wantedNames(tx: TenantTx): Promise<string[]> {
  const { rows } = await tx.client.query<{ name: string }>({
    name: 'webhooks_wanted',
    text: `select distinct unnest(events) as name from hub.webhooks
      where tenant_id = $1 and removed_at is null and disabled_at is null`,
    values: [tx.tenantId],
  })
  return rows.map(({ name }) => name)
}

/** Inserts a row, in a transaction of either role. */
export const insertOutboxRow: PreparedStatement = {
  name: 'webhook_outbox_insert',
  text: 'insert into hub.webhook_outbox (tenant_id, outbox_id, messages) values ($1, $2, $3)',
}

export async function insertOutbox(tx: TenantTx, outboxId: string, messages: string): Promise<void> {
  await tx.client.query({ ...insertOutboxRow, values: [tx.tenantId, outboxId, messages] })
}

export async function deleteOutboxRows(tx: TenantTx, outboxIds: readonly string[]): Promise<void> {
  await tx.client.query('delete from hub.webhook_outbox where tenant_id = $1 and outbox_id = any($2::uuid[])', [
    tx.tenantId,
    outboxIds,
  ])
}

/** Updates a row after a part of it was relayed or erased. */
export async function updateOutboxRow(tx: TenantTx, outboxId: string, messages: string): Promise<void> {
  await updateRows(tx, 'hub.webhook_outbox', { outbox_id: outboxId }, { messages })
}

export interface OutboxRow {
  outbox_id: string
  messages: string
}

/**
 * Returns the id of the oldest row, a UUIDv7 that contains its time (RFC 9562, section 5.7). Undefined without rows.
 */
export async function oldestOutboxId(tx: TenantTx): Promise<string | undefined> {
  const { rows } = await tx.client.query<Pick<OutboxRow, 'outbox_id'>>(
    'select outbox_id from hub.webhook_outbox where tenant_id = $1 order by outbox_id limit 1',
    [tx.tenantId],
  )
  return rows[0]?.outbox_id
}

/** Returns the oldest rows, up to this number and these total bytes, but at least one. */
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

/**
 * Serialises changes of a tenant's endpoints, relayed messages and erasures. So the relay sees all endpoints and takes
 * their next sequences.
 */
export async function lockWebhooks(tx: TenantTx): Promise<void> {
  await lockTenant(tx, webhooksLockClass)
}
