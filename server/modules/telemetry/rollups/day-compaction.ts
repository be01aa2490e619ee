import type { Database, TenantTx } from '../../../db/database.ts'
import { Cells } from './rollup-cells.ts'
import { addQuarters, type CellShare, countQuarters, deleteDayRows, insertRows } from './rollup-rows-store.ts'
import { dayMark, remarkDays, unmarkDay, waitForRollups } from './rollup-store.ts'
import { quarterHoursPerDay, type View, views } from './rollup-types.ts'

/** Rows of quarters that one transaction adds up: bounds its memory, and how long it keeps aggregation waiting. */
const rowsTogetherMax = 20_000
const digestBytes = 256
/** How often a part after the first one waits for another transaction, about half a second each time. */
const waitsMax = 40

/** `reopened`: the day was changed meanwhile, and stays open. */
export type Compacted = 'closed' | 'busy' | 'reopened'

/**
 * Writes the rows of a day from its quarters, and removes its mark. Each part has a transaction of its own, because a
 * large day takes minutes, and aggregation continues between two. Nobody reads rows of an open day, so the day is closed
 * only if nothing has changed it since the first part. Returns `busy` while another transaction changes the tenant's
 * rollups, and `closed` for a day without a mark.
 */
export async function compactDay(
  database: Database,
  tenantId: string,
  day: number,
  stopped?: AbortSignal,
): Promise<Compacted> {
  let mark: string | undefined
  /** Does one part, unless the day has changed. */
  const part = async (work: (tx: TenantTx) => Promise<unknown>): Promise<Compacted | undefined> => {
    for (let waits = 1; ; waits += 1) {
      const result = await tryPart(work)
      if (typeof result === 'object') {
        mark = result.mark
        return undefined
      }
      if (result !== 'busy' || mark === undefined || waits === waitsMax || stopped?.aborted) return result
    }
  }
  const tryPart = (work: (tx: TenantTx) => Promise<unknown>): Promise<Compacted | { mark: string }> =>
    database.withTenant(tenantId, async (tx) => {
      if (stopped?.aborted || !(await waitForRollups(tx))) return 'busy'
      // The first part changes the mark, which ends a compaction by another process.
      if (mark === undefined) await remarkDays(tx, [day])
      const found = await dayMark(tx, day)
      if (found === undefined) return 'closed'
      if (mark !== undefined && found !== mark) return 'reopened'
      await work(tx)
      return { mark: found }
    })

  // The erasure of a user finds its rows by those of the view `all`. So these are deleted last, and written first.
  const deleted = await part(async (tx) => {
    for (const view of views.toReversed()) await deleteDayRows(tx, view, day)
  })
  if (deleted) return deleted
  for (const view of views) {
    let shares: CellShare[] = []
    const counted = await part(async (tx) => {
      shares = sharesOf(await countQuarters(tx, view, day))
      if (shares.length === 1) await writeShare(tx, view, day, shares.pop()!)
    })
    if (counted) return counted
    for (const share of shares) {
      const written = await part((tx) => writeShare(tx, view, day, share))
      if (written) return written
    }
  }
  return (await part((tx) => unmarkDay(tx, day))) ?? 'closed'
}

async function writeShare(tx: TenantTx, view: View, day: number, share: CellShare): Promise<void> {
  const cells = new Cells()
  await addQuarters(tx, { view, day, share }, (dimensions) =>
    cells.metricsOf(view, day * quarterHoursPerDay, dimensions),
  )
  await insertRows(tx, 'day', cells.values())
}

/**
 * Returns shares of cells. Digests are spread evenly, so ranges of their first byte have about the same number of rows.
 */
function sharesOf(rows: number): CellShare[] {
  const count = Math.min(digestBytes, Math.ceil(rows / rowsTogetherMax))
  const startOf = (at: number) => Math.round((at * digestBytes) / count)
  return Array.from({ length: count }, (_, at) => ({ first: startOf(at), last: startOf(at + 1) - 1 }))
}
