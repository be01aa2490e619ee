import type { Directory } from '../directory/directory-types.ts'
import { meetEntries } from './met-entries.ts'
import type { PulledKind } from './pull-pages.ts'
import type { SourceAsking } from './source-asking.ts'
import { type GroupEntry, readGroupEntry, readMembers } from './source-entries.ts'
import type { SyncAttempt } from './sync-attempt.ts'
import { externalIdsOf } from './sync-entries-store.ts'
import { SyncFailed } from './sync-state.ts'
import type { ResourceReader } from './sync-types.ts'

/** The groups of a directory that is read, with their members. */
export function pulledGroups(deps: { directory: Directory; reader: ResourceReader; asking: SourceAsking }): PulledKind {
  /**
   * A list that leaves members out, because it was asked to or by itself, is filled group by group. Undefined for a group
   * that has gone since.
   */
  async function withMembers(attempt: SyncAttempt, entry: GroupEntry): Promise<GroupEntry | undefined> {
    if (entry.memberIds !== undefined) return entry
    const given = await deps.asking.ask(() => attempt.source!.group(entry.sourceId, attempt.signal), attempt.signal)
    if (given === undefined) {
      throw new SyncFailed('GET /Groups/{id}: the answer about one group is larger than the Hub takes.')
    }
    if (given === null) return undefined
    return { ...entry, memberIds: readMembers((given as { members?: unknown }).members) ?? [] }
  }

  return {
    resource: 'Groups',
    metOf: (position) => position.groups,
    finish(position) {
      position.phase = 'absent'
    },
    async prepare(attempt, resources) {
      const { tenant, syncId, actor } = attempt
      const read: (GroupEntry | undefined)[] = []
      for (const each of resources) {
        const entry = readGroupEntry(deps.reader, each, attempt.mapping)
        read.push(entry && (await withMembers(attempt, entry)))
      }
      return {
        length: read.length,
        async apply(tx, row, from, to) {
          const { position } = row
          const part = read.slice(from, to)
          const usable = [...new Map(part.flatMap((each) => (each ? [[each.sourceId, each] as const] : []))).values()]
          const { fresh, externalIds } = await meetEntries(tx, syncId, 'group', usable)
          const memberIds = [...new Set(usable.flatMap((each) => each.memberIds ?? []))]
          const people = await externalIdsOf(tx, syncId, 'user', memberIds)
          const writes = usable.flatMap(({ sourceId, write, memberIds: ids = [] }) => {
            const externalId = externalIds.get(sourceId)
            const memberExternalIds = ids.flatMap((id) => people.get(id) ?? [])
            return externalId === undefined ? [] : [{ ...write, externalId, memberExternalIds }]
          })
          await deps.directory.putGroups(tx, tenant, writes, syncId, actor)
          position.groups += fresh
          position.fresh += fresh
          position.skipped += part.filter((each) => !each).length + (usable.length - writes.length)
        },
      }
    },
  }
}
