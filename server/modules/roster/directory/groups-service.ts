import type { Database } from '../../../db/database.ts'
import { openCursor, pageOf, signCursor } from '../../../http/cursor.ts'
import type { Groups } from '../roster-types.ts'
import type { ArchetypeAssignment } from './archetype-assignment.ts'
import {
  type GroupPosition,
  groupsAfter,
  groupsByIds,
  type ListedGroup,
  type ListedMember,
  membersAfter,
} from './directory-groups-store.ts'
import { unknownGroup } from './directory-refusals.ts'

export function createGroups(deps: { database: Database; assignment: ArchetypeAssignment; cursorKey: Buffer }): Groups {
  const { database, assignment, cursorKey } = deps
  return {
    async list(tenant, { limit, cursor }) {
      const binding = { tenant: tenant.slug, operation: 'listGroups', query: {} }
      const after = cursor === undefined ? undefined : (openCursor(cursorKey, binding, cursor) as GroupPosition)
      const { rows, archetypes } = await database.withTenant(
        tenant.slug,
        async (tx) => ({ rows: await groupsAfter(tx, after, limit + 1), archetypes: await assignment.ofGroups(tx) }),
        { readOnly: true },
      )
      const { shown, next_cursor } = pageOf(rows, limit, (last) =>
        signCursor(cursorKey, binding, [last.created_at, last.group_id]),
      )
      return { items: shown.map((row) => groupAnswer(row, archetypes.get(row.group_id) ?? [])), next_cursor }
    },

    async members(tenant, groupId, { limit, cursor }) {
      const binding = { tenant: tenant.slug, operation: 'listGroupMembers', query: { group_id: groupId } }
      const after = cursor === undefined ? '' : String(openCursor(cursorKey, binding, cursor))
      const rows = await database.withTenant(
        tenant.slug,
        async (tx) => {
          if ((await groupsByIds(tx, [groupId])).length === 0) throw unknownGroup()
          return membersAfter(tx, groupId, after, limit + 1)
        },
        { readOnly: true },
      )
      const { shown, next_cursor } = pageOf(rows, limit, (last) => signCursor(cursorKey, binding, last.user_id))
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
