import type { Selectable } from 'kysely'
import type { RegistryTx, TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import { deleteRows } from '../../db/tenant-rows.ts'

export type InboundSecretRow = Omit<Selectable<TenantTables['hub.inbound_secrets']>, 'tenant_id'>

/** Returns the tenant of a connection. */
export async function tenantOfConnection(tx: RegistryTx, connectionId: string): Promise<string | undefined> {
  const row = await tx.db
    .selectFrom('hub.inbound_directory')
    .select('tenant_slug')
    .where('connection_id', '=', connectionId)
    .executeTakeFirst()
  return row?.tenant_slug
}

/** Registers a connection in the transaction that creates its secret, so that neither exists without the other. */
export async function insertConnectionEntry(tx: TenantTx, connectionId: string): Promise<void> {
  await tx.client.query(
    `insert into hub.inbound_directory (connection_id, tenant_slug) values ($1, $2)
     on conflict (connection_id) do nothing`,
    [connectionId, tx.tenantId],
  )
}

export async function deleteConnectionEntry(tx: TenantTx, connectionId: string): Promise<void> {
  await tx.client.query('delete from hub.inbound_directory where connection_id = $1 and tenant_slug = $2', [
    connectionId,
    tx.tenantId,
  ])
}

export async function findSecret(tx: TenantTx, connectionId: string): Promise<InboundSecretRow | undefined> {
  const { rows } = await tx.client.query<InboundSecretRow>(
    `select connection_id, kind, secret_sealed, former_secret_sealed, former_secret_until, created_at, updated_at
     from hub.inbound_secrets where tenant_id = $1 and connection_id = $2`,
    [tx.tenantId, connectionId],
  )
  return rows[0]
}

/** Inserts or replaces a secret. The creation time stays. */
export async function putSecret(tx: TenantTx, row: InboundSecretRow): Promise<void> {
  await tx.client.query(
    `insert into hub.inbound_secrets (tenant_id, connection_id, kind, secret_sealed, former_secret_sealed,
       former_secret_until, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (tenant_id, connection_id) do update set
       secret_sealed = excluded.secret_sealed, former_secret_sealed = excluded.former_secret_sealed,
       former_secret_until = excluded.former_secret_until, updated_at = excluded.updated_at`,
    [
      tx.tenantId,
      row.connection_id,
      row.kind,
      row.secret_sealed,
      row.former_secret_sealed,
      row.former_secret_until,
      row.created_at,
      row.updated_at,
    ],
  )
}

export async function deleteSecret(tx: TenantTx, connectionId: string): Promise<void> {
  await deleteRows(tx, 'hub.inbound_secrets', { connection_id: connectionId })
}

export async function isNoted(tx: TenantTx, connectionId: string, messageId: string): Promise<boolean> {
  const { rowCount } = await tx.client.query(
    'select 1 from hub.inbound_messages where tenant_id = $1 and connection_id = $2 and message_id = $3',
    [tx.tenantId, connectionId, messageId],
  )
  return rowCount !== 0
}

/**
 * Records a message id; returns false if it is recorded already. Waits for a concurrent transaction that recorded it.
 */
export async function note(tx: TenantTx, connectionId: string, messageId: string, at: string): Promise<boolean> {
  const { rowCount } = await tx.client.query(
    `insert into hub.inbound_messages (tenant_id, connection_id, message_id, received_at) values ($1, $2, $3, $4)
     on conflict (tenant_id, connection_id, message_id) do nothing`,
    [tx.tenantId, connectionId, messageId, at],
  )
  return rowCount !== 0
}

/** Deletes at most `count` message ids received before a time, and returns their number. */
export async function deleteMessages(tx: TenantTx, before: string, count: number): Promise<number> {
  const { rowCount } = await tx.client.query(
    `delete from hub.inbound_messages where tenant_id = $1 and (connection_id, message_id) in (
       select connection_id, message_id from hub.inbound_messages
       where tenant_id = $1 and received_at < $2 order by received_at limit $3)`,
    [tx.tenantId, before, count],
  )
  return rowCount ?? 0
}
