import { rosterPullPageSize } from '../../../../contract/limits.ts'
import type { Directory } from '../directory/directory-types.ts'
import { meetEntries } from './met-entries.ts'
import type { PulledKind } from './pull-pages.ts'
import { readUserEntry } from './source-entries.ts'
import type { ResourceReader } from './sync-types.ts'

const keptNamedMax = 100

/** The people of a directory that is read. */
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
      const read = resources.map((each) => readUserEntry(deps.reader, each))
      return {
        length: read.length,
        async apply(tx, row, from, to) {
          const { position } = row
          const usable = new Map(read.slice(from, to).flatMap((each) => (each ? [[each.sourceId, each] as const] : [])))
          const { fresh, externalIds } = await meetEntries(tx, syncId, 'user', [...usable.values()])
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
          position.skipped += read.slice(from, to).filter((each) => !each).length + (usable.size - writes.length)
          position.keptActive = [...new Set([...position.keptActive, ...(outcome.keptActive ?? [])])].slice(
            0,
            keptNamedMax,
          )
        },
      }
    },
  }
}
