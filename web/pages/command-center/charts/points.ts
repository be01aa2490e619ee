import { formatCount, formatMs, formatPercent, formatUsdInColumn, nothing } from '../../../ui/formats.ts'
import type { MetricColumn } from '../../../ui/metric-columns.ts'
import type { Interval, Range } from '../ranges.ts'
import { costDifferenceOf, failureRate } from '../trends.ts'
import type { TimeRow, Totals } from '../use-metrics.ts'
import { type Slot, slotsOf } from './slots.ts'
import type { TrendChartKind } from './trend-chart.tsx'

/**
 * The values of an hour or a day in charts and their tables: counts and costs without events are zero, latencies are
 * undefined.
 */
export interface Point extends Slot {
  invocations: number
  succeeded: number
  failures: number
  failureRate: number | undefined
  tokensIn: number
  tokensOut: number
  costEstimate: number
  costComputed: number
  variance: number
  /** Models whose price changed in this hour or day; absent if none did. */
  repriced?: string
  /** New versions of skills in this hour or day; absent if there are none. */
  released?: string
  p50: number | undefined
  p95: number | undefined
  p99: number | undefined
  /** The label of the same hour or day of the previous period; absent without one. */
  previous?: string
  previousInvocations?: number | undefined
  previousP95?: number | undefined
  previousCost?: number | undefined
  previousTokens?: number | undefined
}

const none: Totals = {
  ...{ invocations: 0, failures: 0, tokens_in: 0, tokens_out: 0 },
  ...{ cost_usd_estimate: 0, cost_usd_computed: 0, unpriced: 0 },
  latency_ms: { p50: 0, p95: 0, p99: 0 },
}

/**
 * Returns the points of a range.
 *
 * @param rowsBefore of the previous period. Its first hour or day stands beside the first one of the range, and so on
 */
export function pointsOf(
  rows: readonly TimeRow[],
  range: Range,
  interval: Interval,
  rowsBefore: readonly TimeRow[],
): Point[] {
  const earlier = rowsBefore.length > 0 ? slotsOf(rowsBefore, range.before, interval) : []
  return slotsOf(rows, range, interval).map(({ slot, row }, index) => {
    const { latency_ms, ...figures } = row ?? none
    const percentile = (value: number) => (figures.invocations === 0 ? undefined : value)
    return {
      ...slot,
      invocations: figures.invocations,
      succeeded: figures.invocations - figures.failures,
      failures: figures.failures,
      failureRate: failureRate(figures),
      tokensIn: figures.tokens_in,
      tokensOut: figures.tokens_out,
      costEstimate: figures.cost_usd_estimate,
      costComputed: figures.cost_usd_computed,
      variance: costDifferenceOf(figures),
      p50: percentile(latency_ms.p50),
      p95: percentile(latency_ms.p95),
      p99: percentile(latency_ms.p99),
      ...previousOf(earlier[index]),
    }
  })
}

function previousOf(earlier: ReturnType<typeof slotsOf<TimeRow>>[number] | undefined): Partial<Point> {
  if (!earlier) return {}
  const { slot, row = none } = earlier
  return {
    previous: slot.label,
    previousInvocations: row.invocations,
    previousP95: row.invocations === 0 ? undefined : row.latency_ms.p95,
    previousCost: row.cost_usd_estimate,
    previousTokens: row.tokens_in + row.tokens_out,
  }
}

type Column = MetricColumn<Point>

const start: Column = { id: 'start', label: 'From', value: (point) => point.start, text: (point) => point.label }
const count = (id: string, label: string, value: (point: Point) => number): Column => ({
  ...{ id, label, value },
  text: (point) => formatCount(value(point)),
})
const usd = (id: string, label: string, value: (point: Point) => number): Column => ({
  ...{ id, label, value },
  text: (point) => formatUsdInColumn(value(point)),
})
const latency = (id: string, label: string, value: (point: Point) => number | undefined): Column => ({
  ...{ id, label, value },
  text: (point) => formatMs(value(point)),
})

export const usageColumns: Column[] = [
  start,
  count('invocations', 'Invocations', (point) => point.invocations),
  count('failures', 'Failures', (point) => point.failures),
  {
    id: 'failure_rate',
    label: 'Error rate',
    value: (point) => point.failureRate,
    text: (point) => (point.failureRate === undefined ? nothing : formatPercent(point.failureRate)),
    from: 'sm',
  },
]

export const latencyColumns: Column[] = [
  start,
  latency('latency_p50_ms', 'p50', (point) => point.p50),
  latency('latency_p95_ms', 'p95', (point) => point.p95),
  latency('latency_p99_ms', 'p99', (point) => point.p99),
]

export const costColumns: Column[] = [
  start,
  usd('cost_usd_estimate', 'Reported', (point) => point.costEstimate),
  usd('cost_usd_computed', 'Calculated', (point) => point.costComputed),
  usd('variance_usd', 'Difference', (point) => point.variance),
]

export const priceChangeColumn: Column = {
  ...{ id: 'price_change', label: 'Price change', from: 'sm' },
  value: (point) => point.repriced,
}

export const releaseColumn: Column = {
  ...{ id: 'new_versions', label: 'New versions', from: 'sm' },
  value: (point) => point.released,
}

export const tokenColumns: Column[] = [
  start,
  count('tokens_in', 'In', (point) => point.tokensIn),
  count('tokens_out', 'Out', (point) => point.tokensOut),
]

const previous = (id: string, value: Column['value'], text: Column['text']): Column => ({
  ...{ id, label: 'Previous period', from: 'sm', value },
  ...(text && { text }),
})

/** The values of the previous period beside those of the range, by chart. */
export const previousColumns: Record<TrendChartKind, Column> = {
  usage: previous(
    'previous_invocations',
    (point) => point.previousInvocations,
    (point) => formatCount(point.previousInvocations),
  ),
  latency: previous(
    'previous_latency_p95_ms',
    (point) => point.previousP95,
    (point) => formatMs(point.previousP95),
  ),
  cost: previous(
    'previous_cost_usd_estimate',
    (point) => point.previousCost,
    (point) => formatUsdInColumn(point.previousCost),
  ),
  tokens: previous(
    'previous_tokens',
    (point) => point.previousTokens,
    (point) => formatCount(point.previousTokens),
  ),
}
