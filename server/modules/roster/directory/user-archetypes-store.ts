import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { findRow } from '../../../db/tenant-rows.ts'
import type { GroupMapping } from './directory-types.ts'

export type PersonArchetype = Omit<TenantTables['hub.user_archetypes'], 'tenant_id' | 'assigned_at'>

export async function archetypesOf(tx: TenantTx, userIds: readonly string[]): Promise<PersonArchetype[]> {
  const { rows } = await tx.client.query<PersonArchetype>(
    `select user_id, archetype_id from hub.user_archetypes where tenant_id = $1 and user_id = any($2::text[])
     order by user_id, archetype_id collate "C"`,
    [tx.tenantId, userIds],
  )
  return rows
}

export async function insertArchetypes(tx: TenantTx, rows: readonly PersonArchetype[], now: string): Promise<void> {
  if (rows.length === 0) return
  await tx.client.query(
    `insert into hub.user_archetypes (tenant_id, user_id, archetype_id, assigned_at)
     select $1, p.user_id, p.archetype_id, $4::timestamptz from unnest($2::text[], $3::text[]) as p (user_id, archetype_id)
     on conflict (tenant_id, user_id, archetype_id) do nothing`,
    [tx.tenantId, rows.map((row) => row.user_id), rows.map((row) => row.archetype_id), now],
  )
}

export async function deleteArchetypesOf(tx: TenantTx, rows: readonly PersonArchetype[]): Promise<void> {
  if (rows.length === 0) return
  await tx.client.query(
    `delete from hub.user_archetypes a using unnest($2::text[], $3::text[]) as p (user_id, archetype_id)
     where a.tenant_id = $1 and a.user_id = p.user_id and a.archetype_id = p.archetype_id`,
    [tx.tenantId, rows.map((row) => row.user_id), rows.map((row) => row.archetype_id)],
  )
}

/** Returns the people who have one of these archetypes. */
export async function holdersOf(tx: TenantTx, archetypeIds: readonly string[]): Promise<string[]> {
  const { rows } = await tx.client.query<{ user_id: string }>(
    'select distinct user_id from hub.user_archetypes where tenant_id = $1 and archetype_id = any($2::text[])',
    [tx.tenantId, archetypeIds],
  )
  return rows.map((row) => row.user_id)
}

/** Returns those of the people whose archetypes are set manually. */
export async function setByHand(tx: TenantTx, userIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.client.query<{ user_id: string }>(
    'select user_id from hub.users where tenant_id = $1 and user_id = any($2::text[]) and archetypes_by_hand',
    [tx.tenantId, userIds],
  )
  return new Set(rows.map((row) => row.user_id))
}

/** Sets whether archetypes are manual. Returns whether that changed. */
export async function markByHand(tx: TenantTx, userId: string, byHand: boolean): Promise<boolean> {
  const { rows } = await tx.client.query(
    `update hub.users set archetypes_by_hand = $3
     where tenant_id = $1 and user_id = $2 and archetypes_by_hand <> $3 returning user_id`,
    [tx.tenantId, userId, byHand],
  )
  return rows.length > 0
}

export type MappedGroup = Pick<TenantTables['hub.directory_groups'], 'group_id' | 'display_name_key' | 'external_id'>

/** Returns the groups that a mapping may name: by display name (in lower case), external id or id. */
export async function groupsNamed(
  tx: TenantTx,
  names: readonly string[],
  nameKeys: readonly string[],
): Promise<MappedGroup[]> {
  const { rows } = await tx.client.query<MappedGroup>(
    `select group_id, display_name_key, external_id from hub.directory_groups
     where tenant_id = $1
       and (display_name_key = any($3::text[]) or external_id = any($2::text[]) or group_id = any($2::text[]))`,
    [tx.tenantId, names, nameKeys],
  )
  return rows
}

/** Returns the memberships of these people in these groups. */
export async function membershipsIn(
  tx: TenantTx,
  userIds: readonly string[],
  groupIds: readonly string[],
): Promise<{ user_id: string; group_id: string }[]> {
  if (groupIds.length === 0) return []
  const { rows } = await tx.client.query<{ user_id: string; group_id: string }>(
    `select user_id, group_id from hub.directory_members
     where tenant_id = $1 and user_id = any($2::text[]) and group_id = any($3::text[])`,
    [tx.tenantId, userIds, groupIds],
  )
  return rows
}

export async function directoryIdsAfter(tx: TenantTx, after: string, limit: number): Promise<string[]> {
  const { rows } = await tx.client.query<{ user_id: string }>(
    `select user_id from hub.directory_users where tenant_id = $1 and user_id > $2 order by user_id limit $3`,
    [tx.tenantId, after, limit],
  )
  return rows.map((row) => row.user_id)
}

/** Returns the mapping of the tenant's SCIM configuration; empty without one. */
export async function mappingOf(tx: TenantTx): Promise<readonly GroupMapping[]> {
  const row = await findRow(tx, 'hub.scim_configurations', ['group_archetype_map'])
  return (row?.group_archetype_map as GroupMapping[] | undefined) ?? []
}
