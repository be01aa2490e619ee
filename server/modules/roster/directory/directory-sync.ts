import type { JsonObject, JsonValue } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { GovernanceEvent, GovernanceLog } from '../../governance/governance-types.ts'
import { now } from '../users/user-changes.ts'
import { fits, requireStorable } from './directory-errors.ts'
import { changedAttributes, groupEvent } from './directory-groups.ts'
import {
  deleteGroups,
  freeGroupNames,
  groupsKnownBy,
  insertGroups,
  markGroupsSeen,
  unseenGroups,
  updateGroups,
} from './directory-groups-store.ts'
import { deleteOtherMembers, insertMembers, touchGroups } from './directory-members-store.ts'
import { makeGroupId, nameKey } from './directory-names.ts'
import type { Directory, DirectoryGroupWrite, DirectoryUserWrite } from './directory-types.ts'
import type { DirectoryUsers } from './directory-users.ts'
import {
  countUnseen,
  type DirectoryUserRow,
  freeUserNames,
  lockDirectory,
  markUsersSeen,
  unseenUsers,
  userIdsOfExternal,
  usersKnownBy,
} from './directory-users-store.ts'
import type { GroupArchetypes } from './group-archetypes.ts'
import { directoryIdsAfter } from './user-archetypes-store.ts'

type SyncOperations = Pick<
  Directory,
  'putUsers' | 'putGroups' | 'countUnseen' | 'deactivateUnseen' | 'assignArchetypes'
>

/** Applies the pages of a pull, each in a few statements. */
export function createDirectorySync(deps: {
  governance: GovernanceLog
  users: DirectoryUsers
  assignment: GroupArchetypes
}): SyncOperations {
  const { governance, users, assignment } = deps

  return {
    async putUsers(tx, tenant, page, syncId, actor) {
      if (page.length === 0) return { added: 0, updated: 0 }
      page = page.map(fitted)
      page.forEach(requireStorable)
      await lockDirectory(tx)
      const nameOf = (user: (typeof page)[number]) => nameKey(user.userName)
      const rows = await usersKnownBy(tx, keysOf(page, nameOf))
      const changes = match(page, rows, nameOf, (row) => row.user_name_key, isStillThere)
      const blocking = namesInTheWay(changes, rows, nameOf, (row) => row.user_name_key).map((row) => row.user_id)
      await freeUserNames(tx, blocking)
      const { userIds, kept, ...counts } = await users.store(tx, tenant, changes, actor)
      await markUsersSeen(tx, userIds, syncId)
      return { ...counts, ...(kept.length > 0 && { keptActive: kept }) }
    },

    async putGroups(tx, tenant, page, syncId, actor) {
      if (page.length === 0) return { added: 0, updated: 0 }
      page.forEach(requireStorable)
      await lockDirectory(tx)
      const nameOf = (group: (typeof page)[number]) => nameKey(group.displayName)
      const rows = await groupsKnownBy(tx, keysOf(page, nameOf))
      const changes = match(page, rows, nameOf, (row) => row.display_name_key).map((change) => ({
        ...change,
        groupId: change.before?.group_id ?? makeGroupId(),
      }))
      const blocking = namesInTheWay(changes, rows, nameOf, (row) => row.display_name_key).map((row) => row.group_id)
      await freeGroupNames(tx, blocking)
      const fresh = changes.filter(({ before }) => !before)
      const other = changes.filter(({ before, after }) => before && changedAttributes(before, after).length > 0)
      await updateGroups(tx, other.map(asWrite))
      await insertGroups(tx, fresh.map(asWrite), now())
      const members = await replaceMembers(tx, changes)
      const freshIds = new Set(fresh.map(({ groupId }) => groupId))
      const touched = new Set(
        [...other.map(({ groupId }) => groupId), ...members.keys()].filter((id) => !freshIds.has(id)),
      )
      await touchGroups(tx, [...touched], now())
      const events = changes.flatMap(({ groupId, before, after }): GovernanceEvent[] => {
        const counts = members.get(groupId) ?? { added: 0, removed: 0 }
        if (!before) return [groupEvent(groupId, 'directory_group_created', { members: counts.added }, actor)]
        if (!touched.has(groupId)) return []
        const attributes = changedAttributes(before, after)
        return [groupEvent(groupId, 'directory_group', { attributes, members: counts }, actor)]
      })
      await governance.appendAll(tx, tenant, events)
      await markGroupsSeen(
        tx,
        changes.map(({ groupId }) => groupId),
        syncId,
      )
      return { added: fresh.length, updated: touched.size }
    },

    countUnseen,

    async deactivateUnseen(tx, tenant, syncId, actor, limit) {
      await lockDirectory(tx)
      const unable: string[] = []
      // Without this list, people who must stay active would be found again and again.
      for (;;) {
        const rows = await unseenUsers(tx, syncId, limit, unable)
        if (rows.length === 0) break
        const { updated, kept } = await users.store(tx, tenant, rows.map(inactive), actor)
        if (updated > 0) return { deactivated: updated, keptActive: kept }
        unable.push(...kept)
      }
      const gone = await unseenGroups(tx, syncId)
      if (gone.length > 0) {
        await deleteGroups(tx, gone)
        const events = gone.map((id) =>
          groupEvent(id, 'directory_group_removed', { reason: 'not_in_directory' }, actor),
        )
        await governance.appendAll(tx, tenant, events)
      }
      return { deactivated: 0, keptActive: unable }
    },

    async assignArchetypes(tx, tenant, actor, { after, limit }) {
      await lockDirectory(tx)
      const ids = await directoryIdsAfter(tx, after, limit)
      const events = await assignment.byGroups(tx, ids, actor)
      await governance.appendAll(tx, tenant, events)
      return { next: ids.length < limit ? undefined : ids.at(-1), assigned: events.length }
    },
  }
}

interface Named {
  externalId: string | null
}

interface Known {
  external_id: string | null
}

function keysOf<W extends Named>(page: readonly W[], nameOf: (write: W) => string) {
  return {
    nameKeys: [...new Set(page.map(nameOf))],
    externalIds: [...new Set(page.flatMap(({ externalId }) => externalId ?? []))],
  }
}

/**
 * Matches each entry to a stored row: by external id, else by name, unless another entry of the page has the row's
 * external id, or the name was reused: a person who left does not come back under another external id. If several
 * entries match one row, the last counts.
 */
function match<W extends Named, R extends Known>(
  page: readonly W[],
  rows: readonly R[],
  nameOf: (write: W) => string,
  keyOf: (row: R) => string,
  mayHaveNewId: (row: R) => boolean = () => true,
): { before?: R; after: W }[] {
  const byExternalId = new Map(
    rows.flatMap((row) => (row.external_id === null ? [] : [[row.external_id, row] as const])),
  )
  const byName = new Map(rows.map((row) => [keyOf(row), row]))
  const inPage = new Set(page.map(({ externalId }) => externalId).filter((id) => id !== null))
  const changes = new Map<unknown, { before?: R; after: W }>()
  const names = new Map<string, unknown>()
  for (const after of page) {
    const named = byName.get(nameOf(after))
    const hasOtherId = named !== undefined && named.external_id !== null && named.external_id !== after.externalId
    const isOther =
      hasOtherId && (inPage.has(named.external_id!) || (after.externalId !== null && !mayHaveNewId(named)))
    const before =
      (after.externalId === null ? undefined : byExternalId.get(after.externalId)) ?? (isOther ? undefined : named)
    const about = before ?? `${after.externalId ?? ''} ${nameOf(after)}`
    const rival = names.get(nameOf(after))
    if (rival !== undefined && rival !== about) changes.delete(rival)
    names.set(nameOf(after), about)
    changes.set(about, { ...(before && { before }), after })
  }
  return [...changes.values()]
}

/** Returns the rows whose name now belongs to an entry about another row. */
function namesInTheWay<W extends Named, R extends Known>(
  changes: readonly { before?: R; after: W }[],
  rows: readonly R[],
  nameOf: (write: W) => string,
  keyOf: (row: R) => string,
): R[] {
  const ownerOf = new Map(changes.map((change) => [nameOf(change.after), change.before]))
  return rows.filter((row) => ownerOf.has(keyOf(row)) && ownerOf.get(keyOf(row)) !== row)
}

/** Replaces the members of groups, and returns the numbers added and removed by group. */
async function replaceMembers(
  tx: TenantTx,
  changes: readonly { groupId: string; after: { memberExternalIds: readonly string[] } }[],
): Promise<Map<string, { added: number; removed: number }>> {
  const wanted = new Set(changes.flatMap(({ after }) => after.memberExternalIds))
  const userIds = await userIdsOfExternal(tx, [...wanted])
  const pairs = changes.flatMap(({ groupId, after }) =>
    [...new Set(after.memberExternalIds)].flatMap((id) => {
      const userId = userIds.get(id)
      return userId === undefined ? [] : [{ group_id: groupId, user_id: userId }]
    }),
  )
  const counts = new Map<string, { added: number; removed: number }>()
  const count = (groupId: string, what: 'added' | 'removed') => {
    const entry = counts.get(groupId) ?? { added: 0, removed: 0 }
    entry[what] += 1
    counts.set(groupId, entry)
  }
  const groupIds = changes.map(({ groupId }) => groupId)
  for (const pair of await deleteOtherMembers(tx, groupIds, pairs)) count(pair.group_id, 'removed')
  for (const pair of await insertMembers(tx, pairs)) count(pair.group_id, 'added')
  return counts
}

function asWrite({ groupId, after }: { groupId: string; after: DirectoryGroupWrite }) {
  const { displayName, externalId, attributes } = after
  return { groupId, displayName, externalId, attributes }
}

/**
 * Returns the user without attributes that are too long to store, so that nobody counts as absent because of them.
 * Keeps those that the Hub itself needs, if they fit.
 */
function fitted(user: DirectoryUserWrite): DirectoryUserWrite {
  if (fits(user)) return user
  const { displayName, name, emails } = user.attributes
  const needed = { ...user, attributes: withoutUndefined({ displayName, name, emails }) }
  return fits(needed) ? needed : { ...user, attributes: {} }
}

function withoutUndefined(parts: Record<string, JsonValue | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(parts).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  )
}

/**
 * Returns whether the person is still active. When a company replaces its directory, its people get new external ids.
 */
function isStillThere(row: DirectoryUserRow): boolean {
  return row.active && row.is_active
}

function inactive(row: DirectoryUserRow) {
  const { user_name: userName, external_id: externalId, attributes } = row
  return { before: row, after: { userName, externalId, attributes, active: false } }
}
