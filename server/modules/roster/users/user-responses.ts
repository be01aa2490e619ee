import type { TenantTx } from '../../../db/database.ts'
import { personOf } from '../directory/directory-names.ts'
import { type NameInDirectory, namesInDirectory } from '../directory/directory-users-store.ts'
import { archetypesOf } from '../directory/user-archetypes-store.ts'
import type { UserAnswer } from '../roster-types.ts'
import { isActive } from './user-changes.ts'
import type { UserRow } from './users-store.ts'

/** Returns users with their data from the directory and their archetypes, in the order of the rows. */
export async function toUserResponses(tx: TenantTx, rows: readonly UserRow[]): Promise<UserAnswer[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.user_id)
  const names = await namesInDirectory(tx, ids)
  const archetypes = Map.groupBy(await archetypesOf(tx, ids), (row) => row.user_id)
  return rows.map((row) => {
    const name = names.get(row.user_id)
    const archetypeIds = (archetypes.get(row.user_id) ?? []).map((entry) => entry.archetype_id)
    return {
      user_id: row.user_id,
      email: row.email,
      ...otherAddress(row, name),
      ...(name && { user_name: name.user_name }),
      ...(name && name.external_id !== null && { external_id: name.external_id }),
      ...(row.display_name !== null && { display_name: row.display_name }),
      role: row.role,
      active: isActive(row),
      source: name ? 'directory' : 'manual',
      archetype_ids: archetypeIds,
      matched: !name || !isActive(row) || archetypeIds.length > 0,
      created_at: row.created_at,
      ...(row.last_sign_in_at !== null && { last_sign_in_at: row.last_sign_in_at }),
      ...(row.deactivated_at !== null && { deactivated_at: row.deactivated_at }),
    }
  })
}

/** Returns the directory's address if the Hub keeps another: see `People.change`. */
function otherAddress(row: UserRow, name: NameInDirectory | undefined): { directory_email?: string } {
  if (!name) return {}
  const attributes = name.emails === null ? {} : { emails: name.emails }
  const { email, emailKey } = personOf({ userName: name.user_name, attributes })
  return email === '' || emailKey === row.email_key ? {} : { directory_email: email }
}

export async function toUserResponse(tx: TenantTx, row: UserRow): Promise<UserAnswer> {
  return (await toUserResponses(tx, [row]))[0]!
}
