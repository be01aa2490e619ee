import { archetypesLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import { findRows } from '../../db/tenant-rows.ts'

type ArchetypeRow = Omit<TenantTables['hub.archetypes'], 'tenant_id'>

export async function archetypeIds(tx: TenantTx): Promise<Set<string>> {
  const rows = await findRows(tx, 'hub.archetypes', ['archetype_id'])
  return new Set(rows.map((row) => row.archetype_id))
}

export function allArchetypes(tx: TenantTx): Promise<ArchetypeRow[]> {
  return findRows(tx, 'hub.archetypes', ['archetype_id', 'name'])
}

/** Returns archetypes in the byte order of their ids, regardless of the collation of the database. */
export function archetypesAfter(tx: TenantTx, after: string, count: number): Promise<ArchetypeRow[]> {
  return tx.client
    .query<ArchetypeRow>(
      `select archetype_id, name from hub.archetypes
       where tenant_id = $1 and archetype_id collate "C" > $2
       order by archetype_id collate "C" limit $3`,
      [tx.tenantId, after, count],
    )
    .then((result) => result.rows)
}

/** Serialises replacements of one tenant's bundle. */
export async function lockBundle(tx: TenantTx): Promise<void> {
  await lockTenant(tx, archetypesLockClass)
}

export async function deleteArchetypes(tx: TenantTx, ids: readonly string[]): Promise<void> {
  await tx.client.query('delete from hub.archetypes where tenant_id = $1 and archetype_id = any($2::text[])', [
    tx.tenantId,
    ids,
  ])
}

export async function putArchetypes(tx: TenantTx, rows: readonly ArchetypeRow[]): Promise<void> {
  await tx.client.query(
    `insert into hub.archetypes (tenant_id, archetype_id, name)
     select $1, given.archetype_id, given.name
     from unnest($2::text[], $3::text[]) as given (archetype_id, name)
     on conflict (tenant_id, archetype_id) do update set name = excluded.name`,
    [tx.tenantId, rows.map((row) => row.archetype_id), rows.map((row) => row.name)],
  )
}
