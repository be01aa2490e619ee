import type { TenantTx } from '../../../db/database.ts'
import { nameKey } from './directory-names.ts'
import type { DirectoryGroupWrite } from './directory-types.ts'

export interface DirectoryGroupRow {
  group_id: string
  display_name: string
  display_name_key: string
  external_id: string | null
  attributes: DirectoryGroupWrite['attributes']
  revision: number
  created_at: string
  updated_at: string
}

export const groupColumns =
  'g.group_id, g.display_name, g.display_name_key, g.external_id, g.attributes, g.revision, g.created_at, g.updated_at'

export async function groupsByIds(tx: TenantTx, groupIds: readonly string[]): Promise<DirectoryGroupRow[]> {
  const { rows } = await tx.client.query<DirectoryGroupRow>(
    `select ${groupColumns} from hub.directory_groups g where g.tenant_id = $1 and g.group_id = any($2::text[])`,
    [tx.tenantId, groupIds],
  )
  return rows
}

/** Returns the groups with one of the names (in lower case) or external ids, oldest first. */
export async function groupsKnownBy(
  tx: TenantTx,
  { nameKeys, externalIds }: { nameKeys: readonly string[]; externalIds: readonly string[] },
): Promise<DirectoryGroupRow[]> {
  const { rows } = await tx.client.query<DirectoryGroupRow>(
    `select ${groupColumns} from hub.directory_groups g
     where g.tenant_id = $1 and (g.display_name_key = any($2::text[]) or g.external_id = any($3::text[]))
     order by g.created_at, g.group_id`,
    [tx.tenantId, nameKeys, externalIds],
  )
  return rows
}

type GroupWrite = DirectoryGroupWrite & { groupId: string }

export async function insertGroups(tx: TenantTx, groups: readonly GroupWrite[], now: string): Promise<void> {
  if (groups.length === 0) return
  await tx.client.query(
    `insert into hub.directory_groups (tenant_id, group_id, display_name, display_name_key, external_id, attributes,
       revision, created_at, updated_at)
     select $1, w.group_id, w.display_name, w.display_name_key, w.external_id, w.attributes::jsonb, 1,
       $7::timestamptz, $7::timestamptz
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
       as w (group_id, display_name, display_name_key, external_id, attributes)
     returning group_id`,
    [tx.tenantId, ...columnsOf(groups), now],
  )
}

/** Updates groups without counting a revision: see `touchGroups`. */
export async function updateGroups(tx: TenantTx, groups: readonly GroupWrite[]): Promise<void> {
  if (groups.length === 0) return
  await tx.client.query(
    `update hub.directory_groups g
     set display_name = w.display_name, display_name_key = w.display_name_key, external_id = w.external_id,
       attributes = w.attributes::jsonb
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
       as w (group_id, display_name, display_name_key, external_id, attributes)
     where g.tenant_id = $1 and g.group_id = w.group_id`,
    [tx.tenantId, ...columnsOf(groups)],
  )
}

function columnsOf(groups: readonly GroupWrite[]): unknown[] {
  return [
    groups.map(({ groupId }) => groupId),
    groups.map(({ displayName }) => displayName),
    groups.map(({ displayName }) => nameKey(displayName)),
    groups.map(({ externalId }) => externalId),
    groups.map(({ attributes }) => JSON.stringify(attributes)),
  ]
}

/** Frees the display names of groups, as `freeUserNames` does for people. */
export async function freeGroupNames(tx: TenantTx, groupIds: readonly string[]): Promise<void> {
  await tx.client.query(
    `update hub.directory_groups set display_name = group_id, display_name_key = group_id
     where tenant_id = $1 and group_id = any($2::text[])`,
    [tx.tenantId, groupIds],
  )
}

/** Deletes groups and their memberships. */
export async function deleteGroups(tx: TenantTx, groupIds: readonly string[]): Promise<void> {
  await tx.client.query('delete from hub.directory_members where tenant_id = $1 and group_id = any($2::text[])', [
    tx.tenantId,
    groupIds,
  ])
  await tx.client.query('delete from hub.directory_groups where tenant_id = $1 and group_id = any($2::text[])', [
    tx.tenantId,
    groupIds,
  ])
}

export async function markGroupsSeen(tx: TenantTx, groupIds: readonly string[], syncId: string): Promise<void> {
  await tx.client.query(
    `update hub.directory_groups set seen_by = $3
     where tenant_id = $1 and group_id = any($2::text[]) and seen_by is distinct from $3`,
    [tx.tenantId, groupIds, syncId],
  )
}

export async function unseenGroups(tx: TenantTx, syncId: string): Promise<string[]> {
  const { rows } = await tx.client.query<{ group_id: string }>(
    'select group_id from hub.directory_groups where tenant_id = $1 and seen_by is distinct from $2',
    [tx.tenantId, syncId],
  )
  return rows.map((row) => row.group_id)
}
