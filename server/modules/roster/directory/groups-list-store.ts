import type { TenantTx } from '../../../db/database.ts'

export interface ListedGroup {
  group_id: string
  display_name: string
  external_id: string | null
  member_count: number
  created_at: string
  updated_at: string
}

/** `created_at` and `group_id` of the last group of the previous page. */
export type GroupPosition = readonly [createdAt: string, groupId: string]

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

export interface ListedMember {
  user_id: string
  user_name: string
  email: string
  display_name: string | null
  active: boolean
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
