import { recordsResponseBytesMax, relatedResponseMax } from '../../../contract/limits.ts'
import { canSee, visibleTypes } from '../../../contract/record-visibility.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Caller } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { recordNotFound } from '../../records/record-errors.ts'
import { responseText } from '../../records/record-response.ts'
import type { StoredRecord } from '../../records/record-rows.ts'
import { findRecord, findRecords, findSizes } from '../../records/record-store.ts'
import { type Direction, findEdges, findNeighbours } from './relation-store.ts'
import { withUnavailable } from './unavailable-content.ts'

export type RecordRelations = ReturnType<typeof createRecordRelations>

/** Creates the service that walks related_records breadth first, with one query per hop and direction. */
export function createRecordRelations(deps: Pick<ModuleParts, 'database' | 'clock'>) {
  const { database, clock } = deps

  return {
    /**
     * Returns the related records as JSON. The root, an id in lower case, is included even if it is purged, like in GET.
     * Throws `not-found` if GET would.
     */
    async related(
      caller: Caller,
      root: string,
      { depth, direction }: { depth: number; direction: Direction },
    ): Promise<string> {
      const now = clock.next().createdAt
      const found = await readTenant(database, caller.tenant.slug, async (tx) => {
        const start = await findRecord(tx, root, now)
        if (start === undefined || !canSee(caller.scopes, start.record_type)) throw recordNotFound(root)
        const reached = await walk(tx, root, depth, direction, caller)
        const ids = await fitting(tx, reached.ids)
        const truncated = reached.truncated || ids.length < reached.ids.length
        const rows = inOrderOf(ids, [start, ...(await findRecords(tx, ids.slice(1), now))])
        const edges = await findEdges(
          tx,
          rows.map((row) => row.record_id),
        )
        return { rows: await withUnavailable(tx, rows), truncated, edges }
      })
      const { rows, edges, truncated } = found
      const records = rows.map((row) => responseText(caller.tenant.slug, row)).join(',')
      return `{"root":"${root}","records":[${records}],"edges":${JSON.stringify(edges)},"truncated":${truncated}}`
    },
  }
}

async function walk(tx: TenantTx, root: string, depth: number, direction: Direction, caller: Caller) {
  const ids = [root]
  let frontier = [root]
  for (let hop = 0; hop < depth && frontier.length > 0; hop++) {
    const room = relatedResponseMax - ids.length
    // One more than fits shows whether the result is truncated.
    const found = await findNeighbours(tx, {
      frontier,
      visited: ids,
      direction,
      recordTypes: visibleTypes(caller.scopes),
      limit: room + 1,
    })
    frontier = found.slice(0, room)
    ids.push(...frontier)
    if (found.length > room) return { ids, truncated: true }
  }
  return { ids, truncated: false }
}

/** Returns the first ids whose records fit one response, always including the root. */
async function fitting(tx: TenantTx, ids: readonly string[]): Promise<string[]> {
  const sizes = await findSizes(tx, ids)
  let bytes = 0
  return ids.filter((id) => {
    const fits = bytes < recordsResponseBytesMax
    bytes += sizes.get(id) ?? 0
    return fits
  })
}

function inOrderOf(ids: readonly string[], rows: readonly StoredRecord[]): StoredRecord[] {
  const byId = new Map(rows.map((row) => [row.record_id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
