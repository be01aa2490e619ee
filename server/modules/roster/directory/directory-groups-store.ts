import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { nameKey } from './directory-names.ts'
import type { DirectoryGroupWrite } from './directory-types.ts'

export type ListedGroup = Omit<DirectoryGroupRow, 'display_name_key' | 'attributes' | 'revision'> & {
  member_count: number
}

/** `created_at` and `group_id` of the last group of the previous page. */
export type GroupPosition = readonly [createdAt: string, groupId: string]

export type ListedMember = Pick<TenantTables['hub.directory_users'], 'user_id' | 'user_name' | 'active'> &
  Pick<TenantTables['hub.users'], 'email' | 'display_name'>

export interface DirectoryGroupRow extends Omit<TenantTables['hub.directory_groups'], 'tenant_id' | 'seen_by'> {
  attributes: DirectoryGroupWrite['attributes']
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

export async function groupsAfter(
  tx: TenantTx,
  after: GroupPosition | undefined,
  count: number,
): Promise<ListedGroup[]> {
  const { rows } = await tx.client.query<ListedGroup>(
    `select g.group_id, g.display_name, g.external_id, g.created_at, g.updated_at,
       (select count(*)::int from hub.directory_members m
        where m.tenant_id = $1 and m.group_id = g.group_id) as member_count
     from hub.directory_groups g
     where g.tenant_id = $1 and (g.created_at, g.group_id) > ($2::timestamptz, $3)
     order by g.created_at, g.group_id limit $4`,
    [tx.tenantId, ...(after ?? ['-infinity', '']), count],
  )
  return rows
}

export async function membersAfter(
  tx: TenantTx,
  groupId: string,
  after: string,
  count: number,
): Promise<ListedMember[]> {
  const { rows } = await tx.client.query<ListedMember>(
    `select m.user_id, d.user_name, u.email, u.display_name, u.deactivated_at is null as active
     from hub.directory_members m
       join hub.directory_users d on d.tenant_id = $1 and d.user_id = m.user_id
       join hub.users u on u.tenant_id = $1 and u.user_id = m.user_id
     where m.tenant_id = $1 and m.group_id = $2 and m.user_id > $3
     order by m.user_id limit $4`,
    [tx.tenantId, groupId, after, count],
  )
  return rows
}
