import { rosterPullPageSize } from '../../../../contract/limits.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import type { Directory } from '../directory/directory-types.ts'
import type { PulledKind } from './pull-pages.ts'
import {
  faultOf,
  type GroupEntry,
  readGroupEntry,
  readMembers,
  readUserEntry,
  rivalFault,
  type UserEntry,
} from './source-entries.ts'
import { requestSource, type SyncAttempt } from './sync-attempt.ts'
import { externalIdsOf, recordSeenEntries } from './sync-entries-store.ts'
import { nameKept, noteSkipped, SyncFailed, type SyncPosition } from './sync-state.ts'
import type { ResourceReader } from './sync-types.ts'

/** Creates the handler for groups with their members. */
export function pulledGroups(deps: { directory: Directory; reader: ResourceReader }): PulledKind {
  return {
    resource: 'Groups',
    metOf: (position) => position.groups,
    finish(position) {
      position.phase = 'absent'
    },
    absent({ mapping }) {
      if (mapping.length === 0) return { resources: [], bytes: 0, totalResults: 0 }
      throw new SyncFailed(
        'GET /Groups: the directory has no groups (404), from which archetypes would come. Have it serve groups, or ' +
          'take group_archetype_map out of the configuration of SCIM.',
      )
    },
    async prepare(attempt, resources, position) {
      const { tenant, syncId, actor } = attempt
      const read: (GroupEntry | undefined)[] = []
      const gone = 'was removed after the list of groups was read'
      const faults: string[] = []
      const yieldIfLong = createEventLoopYielder()
      for (const each of resources) {
        const entry = await readGroupEntry(deps.reader, each, attempt.mapping, yieldIfLong)
        const isWhole = entry?.memberIds !== undefined
        faults.push(entry ? gone : faultOf(each, 'displayName'))
        read.push(isWhole || !entry ? entry : await fetchMembers(attempt, entry, position))
        // Fetched members are applied before the next request, so a later failure does not fetch them again.
        if (entry && !isWhole) break
        await yieldIfLong()
      }
      return {
        resource: 'Groups',
        length: read.length,
        async apply(tx, row, from, to) {
          const counts = row.position
          const first = counts.startIndex
          const part = read.slice(from, to)
          const usable = [...new Map(part.flatMap((each) => (each ? [[each.sourceId, each] as const] : []))).values()]
          const { fresh, externalIds } = await recordSeenEntries(tx, syncId, 'group', usable)
          const memberIds = [...new Set(usable.flatMap((each) => each.memberIds ?? []))]
          const people = await externalIdsOf(tx, syncId, 'user', memberIds)
          const writes = usable.flatMap(({ sourceId, write, memberIds: ids = [] }) => {
            const externalId = externalIds.get(sourceId)
            const memberExternalIds = ids.flatMap((id) => people.get(id) ?? [])
            return externalId === undefined ? [] : [{ ...write, externalId, memberExternalIds }]
          })
          await deps.directory.putGroups(tx, tenant, writes, syncId, actor)
          counts.groups += fresh
          counts.fresh += fresh
          for (const [offset, entry] of part.entries()) {
            const isRival = entry !== undefined && usable.includes(entry) && !externalIds.has(entry.sourceId)
            const reason = entry ? rivalFault : (faults[from + offset] ?? gone)
            if (!entry || isRival) noteSkipped(counts, { resource: 'Groups', place: first + offset, reason })
          }
        },
      }
    },
  }
}

/**
 * Fetches the members of one group, if the list excludes members, on request or by itself. Returns undefined for a
 * group deleted since.
 */
async function fetchMembers(
  attempt: SyncAttempt,
  entry: GroupEntry,
  position: SyncPosition,
): Promise<GroupEntry | undefined> {
  const answer = await requestSource(attempt, position, (signal) => attempt.source!.group(entry.sourceId, signal))
  if (!answer.ok) {
    throw new SyncFailed(
      answer.problem.kind === 'too-large'
        ? 'GET /Groups/{id}: the answer about one group is larger than the Hub takes.'
        : answer.problem.detail,
    )
  }
  if (answer.value === null) return undefined
  const { members } = answer.value as { members?: unknown }
  return { ...entry, memberIds: (await readMembers(members, createEventLoopYielder())) ?? [] }
}

/** Creates the handler for people. */
export function pulledUsers(deps: { directory: Directory; reader: ResourceReader }): PulledKind {
  return {
    resource: 'Users',
    metOf: (position) => position.users,
    finish(position) {
      Object.assign(position, {
        ...{ phase: 'groups', usersSkipped: position.skipped, usersDoubtful: position.isDoubtful },
        ...{ startIndex: 1, pass: 1, totalMax: 0, fresh: 0, skipped: 0, count: rosterPullPageSize, isDoubtful: false },
      })
    },
    async prepare({ tenant, syncId, actor }, resources) {
      const yieldIfLong = createEventLoopYielder()
      const read: (UserEntry | undefined)[] = []
      for (const each of resources) {
        read.push(readUserEntry(deps.reader, each))
        await yieldIfLong()
      }
      return {
        resource: 'Users',
        length: read.length,
        async apply(tx, row, from, to) {
          const { position } = row
          const first = position.startIndex
          const usable = new Map(read.slice(from, to).flatMap((each) => (each ? [[each.sourceId, each] as const] : [])))
          const { fresh, externalIds } = await recordSeenEntries(tx, syncId, 'user', [...usable.values()])
          const writes = [...usable.values()].flatMap(({ sourceId, write }) => {
            const externalId = externalIds.get(sourceId)
            return externalId === undefined ? [] : [{ ...write, externalId }]
          })
          const outcome = await deps.directory.putUsers(tx, tenant, writes, syncId, actor)
          row.added += outcome.added
          row.updated += outcome.updated - (outcome.deactivated ?? 0)
          row.deactivated += outcome.deactivated ?? 0
          position.users += fresh
          position.fresh += fresh
          for (const [offset, entry] of read.slice(from, to).entries()) {
            const isLatest = entry !== undefined && usable.get(entry.sourceId) === entry
            const isRival = isLatest && !externalIds.has(entry.sourceId)
            const reason = entry ? rivalFault : faultOf(resources[from + offset], 'userName')
            if (!entry || isRival) noteSkipped(position, { resource: 'Users', place: first + offset, reason })
          }
          nameKept(position, outcome.keptActive)
        },
      }
    },
  }
}
