import { scimLockClass } from '../../../db/advisory-locks.ts'
import type { TenantTx } from '../../../db/database.ts'
import { scimRows } from '../../../db/proven-rows.ts'
import type { Proven } from '../../../db/row-proofs.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { lockTenant } from '../../../db/tenant-lock.ts'
import { updateRows } from '../../../db/tenant-rows.ts'
import type { GroupMapping } from '../../roster/directory/directory-types.ts'

export interface ScimRow extends Omit<TenantTables['hub.scim_configurations'], 'tenant_id' | 'proof'> {
  group_archetype_map: readonly GroupMapping[]
}

const columns = `connection_id, mode, base_url, bearer_token_sealed, token_hash, former_token_hash, former_token_until,
  group_archetype_map, created_at, updated_at, last_request_at`

/** Serialises configurations of one tenant. */
export async function lockScim(tx: TenantTx): Promise<void> {
  await lockTenant(tx, scimLockClass)
}

/** Returns the configuration; undefined also if the proof of its row does not verify. */
export async function findScim(tx: TenantTx): Promise<ScimRow | undefined> {
  const { rows } = await tx.client.query<Proven<ScimRow>>(
    `select ${columns}, proof from hub.scim_configurations where tenant_id = $1`,
    [tx.tenantId],
  )
  return tx.proofs.sound(scimRows, tx.tenantId, rows[0])
}

/** Inserts or replaces the configuration. The creation time stays. */
export async function putScim(tx: TenantTx, row: Omit<ScimRow, 'last_request_at'>): Promise<ScimRow> {
  const { rows } = await tx.client.query<ScimRow>(
    `insert into hub.scim_configurations (tenant_id, connection_id, mode, base_url, bearer_token_sealed, token_hash,
       former_token_hash, former_token_until, group_archetype_map, created_at, updated_at, proof)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (tenant_id) do update set
       connection_id = excluded.connection_id, mode = excluded.mode, base_url = excluded.base_url, bearer_token_sealed = excluded.bearer_token_sealed,
       token_hash = excluded.token_hash, former_token_hash = excluded.former_token_hash,
       former_token_until = excluded.former_token_until, group_archetype_map = excluded.group_archetype_map,
       updated_at = excluded.updated_at, proof = excluded.proof
     returning ${columns}`,
    [
      tx.tenantId,
      row.connection_id,
      row.mode,
      row.base_url,
      row.bearer_token_sealed,
      row.token_hash,
      row.former_token_hash,
      row.former_token_until,
      JSON.stringify(row.group_archetype_map),
      row.created_at,
      row.updated_at,
      tx.proofs.of(scimRows, tx.tenantId, row),
    ],
  )
  return rows[0]!
}

export async function deleteScim(tx: TenantTx): Promise<void> {
  await tx.client.query('delete from hub.scim_configurations where tenant_id = $1', [tx.tenantId])
}

export async function saveLastRequest(tx: TenantTx, at: string): Promise<void> {
  await updateRows(tx, 'hub.scim_configurations', {}, { last_request_at: at })
}
