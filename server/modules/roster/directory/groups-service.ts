import type { Static } from 'typebox'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { openPage, type PageRequest } from '../../../http/cursor.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { GroupList, GroupMemberList } from '../roster-schemas.ts'
import { unknownGroup } from './directory-errors.ts'
import {
  type GroupPosition,
  groupsAfter,
  groupsByIds,
  type ListedGroup,
  type ListedMember,
  membersAfter,
} from './directory-groups-store.ts'
import type { GroupArchetypes } from './group-archetypes.ts'

export type Groups = ReturnType<typeof createGroups>

/** Lists the groups of the directory. */
export function createGroups(deps: Pick<ModuleParts, 'database' | 'cursorKey'> & { assignment: GroupArchetypes }) {
  const { database, assignment, cursorKey } = deps
  return {
    /** Returns a page of groups, oldest first. */
    async list({ slug }: Tenant, asked: PageRequest): Promise<Static<typeof GroupList>> {
      const page = openPage<GroupPosition>(cursorKey, { tenant: slug, operation: 'listGroups', query: {} }, asked)
      const read = async (tx: TenantTx) => ({
        rows: await groupsAfter(tx, page.after, page.count),
        archetypes: await assignment.ofGroups(tx),
      })
      const { rows, archetypes } = await readTenant(database, slug, read)
      const { shown, next_cursor } = page.of(rows, (last) => [last.created_at, last.group_id])
      return { items: shown.map((row) => groupAnswer(row, archetypes.get(row.group_id) ?? [])), next_cursor }
    },

    /** Returns a page of members by user id. Throws `not-found` for a group of another tenant. */
    async members({ slug }: Tenant, groupId: string, asked: PageRequest): Promise<Static<typeof GroupMemberList>> {
      const binding = { tenant: slug, operation: 'listGroupMembers', query: { group_id: groupId } }
      const page = openPage<string>(cursorKey, binding, asked)
      const read = async (tx: TenantTx) => {
        if ((await groupsByIds(tx, [groupId])).length === 0) throw unknownGroup()
        return membersAfter(tx, groupId, page.after ?? '', page.count)
      }
      const rows = await readTenant(database, slug, read)
      const { shown, next_cursor } = page.of(rows, (last) => last.user_id)
      return { items: shown.map(memberAnswer), next_cursor }
    },
  }
}

function groupAnswer(row: ListedGroup, archetypeIds: readonly string[]) {
  return {
    group_id: row.group_id,
    display_name: row.display_name,
    ...(row.external_id !== null && { external_id: row.external_id }),
    member_count: row.member_count,
    archetype_ids: [...new Set(archetypeIds)].sort(),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

function memberAnswer({ display_name: name, ...row }: ListedMember) {
  return { ...row, ...(name !== null && { display_name: name }) }
}
