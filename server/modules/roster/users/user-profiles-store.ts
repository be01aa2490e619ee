import type { TenantTx } from '../../../db/database.ts'
import { archetypesOf } from '../directory/user-archetypes-store.ts'
import type { UserProfile } from '../roster-types.ts'
import type { UserRow } from './users-store.ts'

type ProfileRow = Pick<UserRow, 'user_id' | 'email' | 'display_name' | 'role'> & {
  active: boolean
  in_directory: boolean
  user_name: string | null
  external_id: string | null
}

/** See `UserProfiles` of roster-types. */
export async function profilesOf(tx: TenantTx, userIds: readonly string[]): Promise<Map<string, UserProfile>> {
  const { rows } = await tx.client.query<ProfileRow>(
    `select u.user_id, u.email, u.display_name, u.role, u.deactivated_at is null as active,
       d.user_id is not null as in_directory, d.user_name, d.external_id
     from hub.users u left join hub.directory_users d on d.tenant_id = $1 and d.user_id = u.user_id
     where u.tenant_id = $1 and u.user_id = any($2::text[])`,
    [tx.tenantId, userIds],
  )
  const archetypes = Map.groupBy(await archetypesOf(tx, userIds), (row) => row.user_id)
  return new Map(
    rows.map((row) => {
      const archetypeIds = (archetypes.get(row.user_id) ?? []).map((entry) => entry.archetype_id)
      return [row.user_id, profileOf(row, archetypeIds)]
    }),
  )
}

function profileOf(row: ProfileRow, archetypeIds: string[]): UserProfile {
  return {
    user_id: row.user_id,
    ...(row.user_name !== null && { user_name: row.user_name }),
    ...(row.external_id !== null && { external_id: row.external_id }),
    ...(row.email !== '' && { email: row.email }),
    ...(row.display_name !== null && { display_name: row.display_name }),
    role: row.role,
    active: row.active,
    archetype_ids: archetypeIds,
    source: row.in_directory ? 'directory' : 'manual',
  }
}
