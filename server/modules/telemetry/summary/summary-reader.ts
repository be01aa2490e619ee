import type { TenantTx } from '../../../db/database.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import { Metrics } from '../rollups/rollup-cells.ts'
import { type Dimension, quarterHoursPerDay, type View, viewDimensions } from '../rollups/rollup-types.ts'
import { placeOf, readUnfolded, type Unfolded } from './summary-deltas.ts'
import { spansOf } from './summary-ranges.ts'
import { addSums, type MetricsRow, MetricsRows } from './summary-rows.ts'
import { hasUndividedFailures, openDaysWithin, type SumsQuery, sumsOf } from './summary-store.ts'
import { dividesByError, type QuarterRange, type RowPosition, type SummaryRequest } from './summary-types.ts'
import { undividedFailures } from './undivided-failures.ts'

export interface PageOptions {
  after: RowPosition | undefined
  limit: number
  /** Whether to read sketches of latencies too. */
  latencies: boolean
}

export interface MetricsPage {
  rows: MetricsRow[]
  hasMore: boolean
  /** Totals of all matches. */
  totals: Metrics
}

/**
 * Intervals in the first read if each may have many rows, and the factor for each further read. So the cost of a page
 * depends on its rows, not on the length of the range.
 */
const intervalsAtFirst = 32
const intervalsGrowth = 4

/** Reads a page from the snapshot that the transaction must have: rollups, and deltas that are not aggregated yet. */
export async function readMetrics(tx: TenantTx, request: SummaryRequest, page: PageOptions): Promise<MetricsPage> {
  const openDays = await openDaysWithin(tx, wholeDaysOf(request.range))
  if (dividesByError(request)) await rejectUndivided(tx, request, openDays)
  const unfolded = await readUnfolded(tx, request, page.after)
  const rows = await readRows(tx, request, page, openDays, unfolded)
  const hasMore = rows.length > page.limit
  if (hasMore) rows.pop()
  const isAll = page.after === undefined && !hasMore
  return { rows, hasMore, totals: isAll ? sumOf(rows) : await readTotals(tx, request, page, openDays, unfolded) }
}

/** Throws `validation-failed` if the numbers would lack failures, or mix them with other events. */
async function rejectUndivided(tx: TenantTx, request: SummaryRequest, openDays: readonly number[]): Promise<void> {
  const { range, filters, groupBy } = request
  const spans = spansOf([range], openDays)
  if (await hasUndividedFailures(tx, { view: viewFor(request, groupBy), spans, filters })) throw undividedFailures()
}

/** Reads one row more than the page holds, if it exists. */
async function readRows(
  tx: TenantTx,
  request: SummaryRequest,
  { after, limit, latencies }: PageOptions,
  openDays: readonly number[],
  unfolded: Unfolded,
): Promise<MetricsRow[]> {
  const { starts, groupBy, filters, success } = request
  const view = viewFor(request, groupBy)
  const rows: MetricsRow[] = []
  let at = after ? placeOf(starts, after.start) : 0
  // Without grouping an interval has at most one row.
  let count = groupBy ? intervalsAtFirst : limit + 1
  while (at < starts.length && rows.length <= limit) {
    const window = starts.slice(at, at + count)
    const end = starts[at + count] ?? request.range.end
    const ranges = window.map((first, index) => ({ first, end: window[index + 1] ?? end }))
    const wanted = limit + 1 - rows.length
    const query: SumsQuery = {
      ...{ view, filters, groupBy, success, latencies },
      spans: spansOf(ranges, openDays),
      starts: window,
      after: after && rows.length === 0 && window[0]! <= after.start ? { at: 0, key: after.key } : undefined,
      limit: wanted,
    }
    rows.push(...(await readWindow(tx, query, unfolded)).slice(0, wanted))
    at += window.length
    count *= intervalsGrowth
  }
  return rows
}

/**
 * Reads the rows of some intervals in order. Rows beyond the limit may be incomplete: the first rows of the database
 * contain all data of a row within the limit.
 */
async function readWindow(tx: TenantTx, query: SumsQuery, unfolded: Unfolded): Promise<MetricsRow[]> {
  const rows = new MetricsRows()
  const yieldIfLong = createEventLoopYielder()
  for (const sums of await sumsOf(tx, query)) {
    addSums(rows.metricsAt(query.starts[sums.at]!, sums.key), sums)
    await yieldIfLong()
  }
  for (const start of query.starts) {
    for (const { key, metrics } of unfolded.rows.of(start)) rows.metricsAt(start, key).merge(metrics)
  }
  return rows.inOrder()
}

async function readTotals(
  tx: TenantTx,
  request: SummaryRequest,
  { latencies }: PageOptions,
  openDays: readonly number[],
  unfolded: Unfolded,
): Promise<Metrics> {
  const [sums] = await sumsOf(tx, {
    view: viewFor(request, undefined),
    spans: spansOf([request.range], openDays),
    filters: request.filters,
    success: request.success,
    groupBy: undefined,
    starts: [request.range.first],
    after: undefined,
    limit: 1,
    latencies,
  })
  if (sums) addSums(unfolded.totals, sums)
  return unfolded.totals
}

function sumOf(rows: readonly MetricsRow[]): Metrics {
  const sum = new Metrics()
  for (const { metrics } of rows) sum.merge(metrics)
  return sum
}

/** Returns the whole days within a range. */
export function wholeDaysOf({ first, end }: QuarterRange): QuarterRange {
  return { first: Math.ceil(first / quarterHoursPerDay), end: Math.floor(end / quarterHoursPerDay) }
}

/** Views from the fewest rows to the most. */
const viewsBySize: readonly View[] = ['platform', 'archetype', 'model', 'skill', 'user', 'no_user', 'all']

type ViewRequest = Pick<SummaryRequest, 'filters'> & Partial<Pick<SummaryRequest, 'success'>>

/** Returns the smallest view with the requested dimensions. A filter by user needs the index of the view `all`. */
export function viewFor({ filters, success }: ViewRequest, groupBy: Dimension | undefined): View {
  if (filters.user_id !== undefined) return 'all'
  const needed = [...(Object.keys(filters) as Dimension[]), ...(groupBy ? [groupBy] : [])]
  if (success !== undefined) needed.push('error_code')
  const keeps = (view: View) => needed.every((name) => (viewDimensions[view] as readonly Dimension[]).includes(name))
  return viewsBySize.find(keeps) ?? 'all'
}
