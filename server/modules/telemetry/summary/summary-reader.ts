import type { TenantTx } from '../../../db/database.ts'
import { createYieldBudget } from '../../../http/yield-budget.ts'
import { Figures } from '../rollups/rollup-cells.ts'
import { type Dimension, quartersPerDay, type View, viewDimensions } from '../rollups/rollup-types.ts'
import { placeOf, readUnfolded, type Unfolded } from './summary-deltas.ts'
import { addSums, type FiguresRow, FiguresRows } from './summary-rows.ts'
import { spansOf } from './summary-spans.ts'
import { openDaysWithin, type SumsQuery, sumsOf } from './summary-store.ts'
import type { QuarterRange, RowPosition, SummaryRequest } from './summary-types.ts'

export interface PageOptions {
  after: RowPosition | undefined
  limit: number
  /** Whether sketches of latencies are read too. */
  latencies: boolean
}

export interface FiguresPage {
  rows: FiguresRow[]
  hasMore: boolean
  /** Of all that matches. */
  totals: Figures
}

/**
 * Intervals that are read at first, where each may have many rows, and how many times more after that. So a page
 * costs what it holds, however long the range is.
 */
const intervalsAtFirst = 32
const intervalsGrowth = 4

/**
 * A page of the numbers as they stand in the snapshot of the transaction, which must have one: rollups, and what is
 * not folded into them yet.
 */
export async function readFigures(tx: TenantTx, request: SummaryRequest, page: PageOptions): Promise<FiguresPage> {
  const openDays = await openDaysWithin(tx, wholeDaysOf(request.range))
  const unfolded = await readUnfolded(tx, request, page.after)
  const rows = await readRows(tx, request, page, openDays, unfolded)
  const hasMore = rows.length > page.limit
  if (hasMore) rows.pop()
  const isAll = page.after === undefined && !hasMore
  return { rows, hasMore, totals: isAll ? sumOf(rows) : await readTotals(tx, request, page, openDays, unfolded) }
}

/** One row more than the page holds, where there are as many. */
async function readRows(
  tx: TenantTx,
  request: SummaryRequest,
  { after, limit, latencies }: PageOptions,
  openDays: readonly number[],
  unfolded: Unfolded,
): Promise<FiguresRow[]> {
  const { starts, groupBy, filters } = request
  const view = viewFor(request, groupBy)
  const rows: FiguresRow[] = []
  let at = after ? placeOf(starts, after.start) : 0
  // Without groups an interval has one row at most.
  let count = groupBy ? intervalsAtFirst : limit + 1
  while (at < starts.length && rows.length <= limit) {
    const window = starts.slice(at, at + count)
    const end = starts[at + count] ?? request.range.end
    const ranges = window.map((first, index) => ({ first, end: window[index + 1] ?? end }))
    const wanted = limit + 1 - rows.length
    const query: SumsQuery = {
      ...{ view, filters, groupBy, latencies },
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
 * The rows of some intervals in order, of which those behind the limit may be incomplete: what the database has of a
 * row within the limit is among its own first ones.
 */
async function readWindow(tx: TenantTx, query: SumsQuery, unfolded: Unfolded): Promise<FiguresRow[]> {
  const rows = new FiguresRows()
  const turn = createYieldBudget()
  for (const sums of await sumsOf(tx, query)) {
    addSums(rows.figuresAt(query.starts[sums.at]!, sums.key), sums)
    await turn.endIfLong()
  }
  for (const start of query.starts) {
    for (const { key, figures } of unfolded.rows.of(start)) rows.figuresAt(start, key).merge(figures)
  }
  return rows.inOrder()
}

async function readTotals(
  tx: TenantTx,
  request: SummaryRequest,
  { latencies }: PageOptions,
  openDays: readonly number[],
  unfolded: Unfolded,
): Promise<Figures> {
  const [sums] = await sumsOf(tx, {
    view: viewFor(request, undefined),
    spans: spansOf([request.range], openDays),
    filters: request.filters,
    groupBy: undefined,
    starts: [request.range.first],
    after: undefined,
    limit: 1,
    latencies,
  })
  if (sums) addSums(unfolded.totals, sums)
  return unfolded.totals
}

function sumOf(rows: readonly FiguresRow[]): Figures {
  const sum = new Figures()
  for (const { figures } of rows) sum.merge(figures)
  return sum
}

/** The days that lie within a range as a whole. */
export function wholeDaysOf({ first, end }: QuarterRange): QuarterRange {
  return { first: Math.ceil(first / quartersPerDay), end: Math.floor(end / quartersPerDay) }
}

/** From the one with the fewest rows to that with the most. */
const viewsBySize: readonly View[] = ['platform', 'archetype', 'model', 'skill', 'user', 'no_user', 'all']

/** The smallest view that keeps what is asked for; one user is found by the index that the view `all` has. */
export function viewFor({ filters }: SummaryRequest, groupBy: Dimension | undefined): View {
  if (filters.user_id !== undefined) return 'all'
  const needed = [...(Object.keys(filters) as Dimension[]), ...(groupBy ? [groupBy] : [])]
  const keeps = (view: View) => needed.every((name) => (viewDimensions[view] as readonly Dimension[]).includes(name))
  return viewsBySize.find(keeps) ?? 'all'
}
