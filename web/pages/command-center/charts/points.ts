import { formatCount, formatMs, formatPercent, formatUsdInColumn, nothing } from '../../../ui/formats.ts'
import type { MetricColumn } from '../../../ui/metric-columns.ts'
import type { Interval, Span } from '../ranges.ts'
import { failureRate } from '../trends.ts'
import { costDifferenceOf, type TimeRow, type Totals } from '../use-metrics.ts'
import { type Slot, slotsOf } from './slots.ts'

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
}

const none: Totals = {
  ...{ invocations: 0, failures: 0, tokens_in: 0, tokens_out: 0 },
  ...{ cost_usd_estimate: 0, cost_usd_computed: 0, unpriced: 0 },
  latency_ms: { p50: 0, p95: 0, p99: 0 },
}

export function pointsOf(rows: readonly TimeRow[], span: Span, interval: Interval): Point[] {
  return slotsOf(rows, span, interval).map(({ slot, row }) => {
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
      variance: costDifferenceOf({ latency_ms, ...figures }),
      p50: percentile(latency_ms.p50),
      p95: percentile(latency_ms.p95),
      p99: percentile(latency_ms.p99),
    }
  })
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
