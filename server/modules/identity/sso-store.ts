import type { Selectable } from 'kysely'
import { ssoLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import { ssoRows } from '../../db/proven-rows.ts'
import type { TenantTables } from '../../db/schema.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import { updateRows } from '../../db/tenant-rows.ts'

export type ConnectionRow = Omit<Selectable<TenantTables['hub.sso_connections']>, 'tenant_id' | 'replaced_at' | 'proof'>

const columns = [
  'connection_id',
  'issuer',
  'client_id',
  'client_secret_sealed',
  'allowed_email_domains',
  'created_at',
  'updated_at',
] as const

/** Serialises configurations of one tenant. */
export async function lockSso(tx: TenantTx): Promise<void> {
  await lockTenant(tx, ssoLockClass)
}

/**
 * Returns the connection; undefined also if the proof of its row does not verify: nobody signs in by such a row, and
 * configuring replaces it.
 */
export async function currentConnection(tx: TenantTx): Promise<ConnectionRow | undefined> {
  return tx.proofs.sound(ssoRows, tx.tenantId, await storedConnection(tx))
}

/** Returns the stored row without verifying its proof. */
export function storedConnection(tx: TenantTx) {
  return tx.db
    .selectFrom('hub.sso_connections')
    .select([...columns, 'proof'])
    .where('tenant_id', '=', tx.tenantId)
    .where('replaced_at', 'is', null)
    .executeTakeFirst()
}

export async function replaceConnection(tx: TenantTx, connectionId: string, replacedAt: string): Promise<void> {
  const changes = { replaced_at: replacedAt, proof: null }
  await updateRows(tx, 'hub.sso_connections', { connection_id: connectionId }, changes)
}

export async function addConnection(tx: TenantTx, row: Omit<ConnectionRow, 'created_at'>): Promise<ConnectionRow> {
  const { rows } = await tx.client.query<ConnectionRow>(
    `insert into hub.sso_connections (tenant_id, connection_id, issuer, client_id, client_secret_sealed,
       allowed_email_domains, created_at, updated_at, proof)
     values ($1, $2, $3, $4, $5, $6, $7, $7, $8)
     returning ${columns.join(', ')}`,
    [
      tx.tenantId,
      row.connection_id,
      row.issuer,
      row.client_id,
      row.client_secret_sealed,
      row.allowed_email_domains,
      row.updated_at,
      tx.proofs.of(ssoRows, tx.tenantId, row),
    ],
  )
  return rows[0] as ConnectionRow
}

/** @param row the row of {@link currentConnection} with its changes */
export async function changeConnection(tx: TenantTx, row: ConnectionRow): Promise<ConnectionRow> {
  const { rows } = await tx.client.query<ConnectionRow>(
    `update hub.sso_connections
     set client_secret_sealed = $3, allowed_email_domains = $4, updated_at = $5, proof = $6
     where tenant_id = $1 and connection_id = $2
     returning ${columns.join(', ')}`,
    [
      tx.tenantId,
      row.connection_id,
      row.client_secret_sealed,
      row.allowed_email_domains,
      row.updated_at,
      tx.proofs.of(ssoRows, tx.tenantId, row),
    ],
  )
  return rows[0] as ConnectionRow
}
