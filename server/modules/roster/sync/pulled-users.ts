import { rosterPullPageSize } from '../../../../contract/limits.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import type { Directory } from '../directory/directory-types.ts'
import type { PulledKind } from './pull-pages.ts'
import { recordSeenEntries } from './seen-entries.ts'
import { faultOf, readUserEntry, rivalFault, type UserEntry } from './source-entries.ts'
import { nameKept, noteSkipped } from './sync-state.ts'
import type { ResourceReader } from './sync-types.ts'

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
