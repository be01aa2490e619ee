import type { TenantTx } from '../../../db/database.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import { Metrics } from '../rollups/rollup-cells.ts'
import { type DeltaEntry, readableEntries } from '../rollups/rollup-delta.ts'
import type { Dimension } from '../rollups/rollup-types.ts'
import { comparePositions, MetricsRows } from './summary-rows.ts'
import { deltasAfter } from './summary-store.ts'
import { dividesByError, type RowPosition, type SummaryRequest } from './summary-types.ts'
import { undividedFailures } from './undivided-failures.ts'

const noUuid = '00000000-0000-0000-0000-000000000000'
/** Deltas read at once; each has one batch and 60 kB, so a read takes a few megabytes. */
const deltasAtOnce = 64
/** Entries of a delta that are added before the event loop runs other work. */
const entriesAtOnce = 64

/** Ingested events that are not aggregated into the rollups yet. */
export interface Unfolded {
  /** Rows after the position at which the page begins. */
  rows: MetricsRows
  /** Totals of all matches. */
  totals: Metrics
}

/** Adds up the matching entries of the deltas that the transaction sees. */
export async function readUnfolded(
  tx: TenantTx,
  request: SummaryRequest,
  after: RowPosition | undefined,
): Promise<Unfolded> {
  const unfolded = { rows: new MetricsRows(), totals: new Metrics() }
  await eachUnfolded(tx, (entry) => addEntry(unfolded, entry, request, after))
  return unfolded
}

/** Passes on every entry of the deltas that the transaction sees. */
export async function eachUnfolded(tx: TenantTx, take: (entry: DeltaEntry) => void): Promise<void> {
  const yieldIfLong = createEventLoopYielder()
  let last = noUuid
  for (;;) {
    const deltas = await deltasAfter(tx, last, deltasAtOnce)
    for (const { entries: text } of deltas) {
      for (const [index, entry] of readableEntries(text).entries()) {
        if (index % entriesAtOnce === 0) await yieldIfLong()
        take(entry)
      }
    }
    last = deltas.at(-1)?.delta_id ?? last
    if (deltas.length < deltasAtOnce) return
  }
}

function addEntry(
  unfolded: Unfolded,
  entry: DeltaEntry,
  request: SummaryRequest,
  after: RowPosition | undefined,
): void {
  if (!matches(entry, request)) return
  if (dividesByError(request)) {
    if (isUndivided(entry)) throw undividedFailures()
    if (!hasOutcome(entry, request)) return
  }
  const { groupBy } = request
  entry.addTo(unfolded.totals)
  const start = request.starts[placeOf(request.starts, entry.quarter)]!
  const key = groupBy ? (entry.dimensions[groupBy] ?? '') : ''
  if (after === undefined || comparePositions({ start, key }, after) > 0) {
    entry.addTo(unfolded.rows.metricsAt(start, key))
  }
}

/** Returns whether a summary counts an entry. */
export function matches(
  { quarter, dimensions }: DeltaEntry,
  { range, filters }: Pick<SummaryRequest, 'range' | 'filters'>,
): boolean {
  if (quarter < range.first || quarter >= range.end) return false
  for (const name in filters) {
    if (name === 'error_code') continue
    const wanted = filters[name as Dimension]
    const value = dimensions[name as Dimension]
    if (typeof wanted === 'object' ? value === null || !wanted.has(value) : value !== wanted) return false
  }
  return true
}

/** Returns whether failures of an entry have no error code, because an earlier release wrote it. */
function isUndivided({ dimensions, addTo }: DeltaEntry): boolean {
  if (dimensions.error_code !== null) return false
  const metrics = new Metrics()
  addTo(metrics)
  return metrics.failures !== 0
}

/** Returns whether an entry has the wanted outcome; `outcomeConditions` is the same in SQL. */
function hasOutcome(
  { dimensions: { error_code } }: DeltaEntry,
  { groupBy, filters, success }: SummaryRequest,
): boolean {
  if (success !== undefined && success !== (error_code === null)) return false
  if (groupBy === 'error_code' && error_code === null) return false
  return filters.error_code === undefined || filters.error_code === error_code
}

/** Returns the index of the interval that contains a quarter. */
export function placeOf(starts: readonly number[], quarter: number): number {
  let low = 0
  let high = starts.length
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (starts[middle]! <= quarter) low = middle
    else high = middle
  }
  return low
}
