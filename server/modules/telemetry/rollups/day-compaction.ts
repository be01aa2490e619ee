import type { TenantTx } from '../../../db/database.ts'
import { Cells } from './rollup-cells.ts'
import { addQuarters, type CellShare, countQuarters, deleteDayRows, insertRows } from './rollup-rows-store.ts'
import { lockRollups, unmarkDay } from './rollup-store.ts'
import { quartersPerDay, views } from './rollup-types.ts'

/** Rows of quarters that are added up in memory together; bounds the cells of a day. */
const rowsTogetherMax = 50_000
const digestBytes = 256

/**
 * Writes the rows of a day from its quarters, and removes its mark. Returns `busy`, and does nothing, while another
 * transaction changes the tenant's rollups, and `closed` for a day without a mark.
 */
export async function compactDay(tx: TenantTx, day: number): Promise<'closed' | 'busy'> {
  if (!(await lockRollups(tx))) return 'busy'
  if (!(await unmarkDay(tx, day))) return 'closed'
  for (const view of views) {
    await deleteDayRows(tx, view, day)
    for (const share of sharesOf(await countQuarters(tx, view, day))) {
      const cells = new Cells()
      await addQuarters(tx, { view, day, share }, (dimensions) =>
        cells.figuresOf(view, day * quartersPerDay, dimensions),
      )
      await insertRows(tx, 'day', cells.values())
    }
  }
  return 'closed'
}

/**
 * Returns shares of cells. Digests are spread evenly, so ranges of their first byte have about the same number of rows.
 */
function sharesOf(rows: number): CellShare[] {
  const count = Math.min(digestBytes, Math.ceil(rows / rowsTogetherMax))
  const startOf = (at: number) => Math.round((at * digestBytes) / count)
  return Array.from({ length: count }, (_, at) => ({ first: startOf(at), last: startOf(at + 1) - 1 }))
}
