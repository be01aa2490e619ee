import type { TenantTx } from '../../../db/database.ts'

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
