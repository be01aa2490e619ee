import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'

export type Membership = Pair & { display_name: string }

export async function membershipsOf(tx: TenantTx, userIds: readonly string[]): Promise<Membership[]> {
  const { rows } = await tx.client.query<Membership>(
    `select m.user_id, m.group_id, g.display_name
     from hub.directory_members m join hub.directory_groups g on g.tenant_id = $1 and g.group_id = m.group_id
     where m.tenant_id = $1 and m.user_id = any($2::text[])
     order by g.display_name_key collate "C"`,
    [tx.tenantId, userIds],
  )
  return rows
}

export type Member = Pair & Pick<TenantTables['hub.directory_users'], 'user_name'> & { display_name: string | null }

/**
 * Returns the members of groups. The name is the one the Hub shows, so the attributes, which may be long, are not read.
 */
export async function membersOf(tx: TenantTx, groupIds: readonly string[]): Promise<Member[]> {
  const { rows } = await tx.client.query<Member>(
    `select m.group_id, m.user_id, d.user_name, u.display_name
     from hub.directory_members m join hub.directory_users d on d.tenant_id = $1 and d.user_id = m.user_id
       join hub.users u on u.tenant_id = $1 and u.user_id = m.user_id
     where m.tenant_id = $1 and m.group_id = any($2::text[])
     order by m.group_id, m.user_id`,
    [tx.tenantId, groupIds],
  )
  return rows
}

/** Returns the number of members of each group, counted up to the limit. */
export async function memberCounts(
  tx: TenantTx,
  groupIds: readonly string[],
  limit: number,
): Promise<Map<string, number>> {
  const { rows } = await tx.client.query<{ group_id: string; members: number }>(
    `select g.group_id, (
       select count(*)::int from (
         select from hub.directory_members m where m.tenant_id = $1 and m.group_id = g.group_id limit $3) counted
     ) as members
     from hub.directory_groups g where g.tenant_id = $1 and g.group_id = any($2::text[])`,
    [tx.tenantId, groupIds, limit],
  )
  return new Map(rows.map((row) => [row.group_id, row.members]))
}

/** Returns the number of groups of each person, counted up to the limit. */
export async function groupCounts(
  tx: TenantTx,
  userIds: readonly string[],
  limit: number,
): Promise<Map<string, number>> {
  const { rows } = await tx.client.query<{ user_id: string; groups: number }>(
    `select d.user_id, (
       select count(*)::int from (
         select from hub.directory_members m where m.tenant_id = $1 and m.user_id = d.user_id limit $3) counted
     ) as groups
     from hub.directory_users d where d.tenant_id = $1 and d.user_id = any($2::text[])`,
    [tx.tenantId, userIds, limit],
  )
  return new Map(rows.map((row) => [row.user_id, row.groups]))
}

export async function memberIdsOf(tx: TenantTx, groupId: string): Promise<string[]> {
  const { rows } = await tx.client.query<{ user_id: string }>(
    'select user_id from hub.directory_members where tenant_id = $1 and group_id = $2',
    [tx.tenantId, groupId],
  )
  return rows.map((row) => row.user_id)
}

export type Pair = Omit<TenantTables['hub.directory_members'], 'tenant_id'>

/** Inserts memberships and returns the new ones. */
export async function insertMembers(tx: TenantTx, pairs: readonly Pair[]): Promise<Pair[]> {
  if (pairs.length === 0) return []
  const { rows } = await tx.client.query<Pair>(
    `insert into hub.directory_members (tenant_id, group_id, user_id)
     select $1, p.group_id, p.user_id from unnest($2::text[], $3::text[]) as p (group_id, user_id)
     on conflict (tenant_id, group_id, user_id) do nothing
     returning group_id, user_id`,
    [tx.tenantId, pairs.map((pair) => pair.group_id), pairs.map((pair) => pair.user_id)],
  )
  return rows
}

/** Deletes memberships and returns those that existed. */
export async function deleteMembers(tx: TenantTx, groupId: string, userIds: readonly string[]): Promise<Pair[]> {
  if (userIds.length === 0) return []
  const { rows } = await tx.client.query<Pair>(
    `delete from hub.directory_members where tenant_id = $1 and group_id = $2 and user_id = any($3::text[])
     returning group_id, user_id`,
    [tx.tenantId, groupId, userIds],
  )
  return rows
}

/** Deletes every membership of these groups that `pairs` does not list, and returns the deleted ones. */
export async function deleteOtherMembers(
  tx: TenantTx,
  groupIds: readonly string[],
  pairs: readonly Pair[],
): Promise<Pair[]> {
  const { rows } = await tx.client.query<Pair>(
    `delete from hub.directory_members m
     where m.tenant_id = $1 and m.group_id = any($2::text[])
       and not exists (select from unnest($3::text[], $4::text[]) as p (group_id, user_id)
                       where p.group_id = m.group_id and p.user_id = m.user_id)
     returning m.group_id, m.user_id`,
    [tx.tenantId, groupIds, pairs.map((pair) => pair.group_id), pairs.map((pair) => pair.user_id)],
  )
  return rows
}

/** Removes the person from every group and counts a revision of each. */
export async function leaveGroups(tx: TenantTx, userId: string, now: string): Promise<void> {
  const { rows } = await tx.client.query<{ group_id: string }>(
    'delete from hub.directory_members where tenant_id = $1 and user_id = $2 returning group_id',
    [tx.tenantId, userId],
  )
  await touchGroups(
    tx,
    rows.map((row) => row.group_id),
    now,
  )
}

/** Increments the revision of each group. */
export async function touchGroups(tx: TenantTx, groupIds: readonly string[], now: string): Promise<void> {
  if (groupIds.length === 0) return
  await tx.client.query(
    `update hub.directory_groups set revision = revision + 1, updated_at = $3::timestamptz
     where tenant_id = $1 and group_id = any($2::text[])`,
    [tx.tenantId, groupIds, now],
  )
}
