import type { TenantTx } from '../../../db/database.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import type { Finding } from '../../integrity-sweep/sweep-types.ts'
import { usdOfExactMicros } from '../summary/summary-response.ts'
import { auditedRows, isDayOpen } from './rollup-audit-store.ts'
import { type Cell, keptBy, Metrics } from './rollup-cells.ts'
import { Fingerprint } from './rollup-fingerprint.ts'
import { addValues } from './rollup-rows-store.ts'
import { quarterHoursPerDay, type StoredGrain, type View, views } from './rollup-types.ts'

/** The sums of a day from two sources. */
export interface DaySums {
  /** The sums of the records; undefined if they cannot be counted, because content was destroyed with its key. */
  records: Fingerprint | undefined
  /** The sums of deltas that are not aggregated yet. */
  unfolded: Fingerprint
}

export interface DayChecked {
  rows: number
  /** Failed comparisons between rows: readers of one view or grain get other values than those of another. */
  failedChecks: Finding['failedChecks']
  /** Whether the values differ from those of the records, as far as these were read. */
  differs: boolean
  found: Finding['found']
}

/** Compares the rows of a day with the records and with one another. Call it in a snapshot. */
export async function checkDay(tx: TenantTx, day: number, sums: DaySums): Promise<DayChecked> {
  const yieldIfLong = createEventLoopYielder()
  let rows = 0

  /** Adds up the rows of one grain and view, as rows of other views. */
  async function sumRows(grain: StoredGrain, view: View, ways: ((cell: Cell) => Cell)[]): Promise<Fingerprint[]> {
    const sums = ways.map(() => new Fingerprint())
    for await (const page of auditedRows(tx, { grain, view, day })) {
      for (const { firstQuarter, dimensions, values } of page) {
        const metrics = new Metrics()
        addValues(metrics, values)
        for (const [at, way] of ways.entries()) sums[at]!.add(way({ view, firstQuarter, dimensions, metrics }))
        rows += 1
        await yieldIfLong()
      }
    }
    return sums
  }

  const asStored = (cell: Cell): Cell => cell
  const ofDay = (cell: Cell): Cell => ({ ...cell, firstQuarter: day * quarterHoursPerDay })
  const ofView =
    (view: View) =>
    (cell: Cell): Cell => ({ ...cell, view, dimensions: keptBy(view, cell.dimensions) })
  const failedChecks = new Set<Finding['failedChecks'][number]>()

  const [all, ...fromAll] = await sumRows('quarter', 'all', [asStored, ...views.map(ofView)])
  const isOpen = await isDayOpen(tx, day)
  for (const [at, view] of views.entries()) {
    const [quarters, asDay] = await sumRows('quarter', view, [asStored, ofDay])
    if (!quarters!.equals(fromAll[at]!)) failedChecks.add('figures_views_agree')
    if (isOpen) continue
    const [days] = await sumRows('day', view, [asStored])
    if (!days!.equals(asDay!)) failedChecks.add('figures_days_agree')
  }
  const shown = all!
  shown.merge(sums.unfolded)
  if (sums.records === undefined) return { rows, failedChecks: [...failedChecks], differs: false, found: {} }
  const [counted] = await sumRows('erased', 'all', [asStored])
  counted!.merge(sums.records)
  return {
    rows,
    failedChecks: [...failedChecks],
    differs: !shown.equals(counted!),
    found: { from_records: describeTotals(counted!.totals), stored: describeTotals(shown.totals) },
  }
}

function describeTotals({ invocations, costEstimate, costComputed }: Fingerprint['totals']) {
  return {
    invocations,
    cost_usd_estimate: usdOfExactMicros(costEstimate),
    cost_usd_computed: usdOfExactMicros(costComputed),
  }
}
