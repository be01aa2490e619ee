import { type Interval, isoOf, type Span } from '../ranges.ts'
import type { Row } from '../use-metrics.ts'
import { type Slot, slotsOf } from './slots.ts'

const keysShown = 5
const others = 'Other'

export interface SplitPoint extends Slot {
  /** Reported cost, by the key of the series. */
  [series: `s${number}`]: number
}

export interface CostSplit {
  points: SplitPoint[]
  /** The keys with the highest cost, and the sum of the others, if any. */
  series: { name: `s${number}`; label: string }[]
}

/** Divides the reported cost of each hour or day by key: the five highest of the range, and the sum of the others. */
export function splitCost(rows: readonly Row[], span: Span, interval: Interval): CostSplit {
  const sums = new Map<string, number>()
  for (const { key = 'Unknown', cost_usd_estimate } of rows) sums.set(key, (sums.get(key) ?? 0) + cost_usd_estimate)
  const top = [...sums].toSorted(([, one], [, other]) => other - one).slice(0, keysShown)
  const indexOf = new Map(top.map(([key], index) => [key, index]))
  const labels = [...indexOf.keys(), ...(sums.size > top.length ? [others] : [])]
  const series = labels.map((label, index) => ({ name: `s${index}` as const, label }))
  const points = slotsOf([], span, interval).map(
    ({ slot }): SplitPoint => ({
      ...slot,
      ...Object.fromEntries(series.map(({ name }) => [name, 0])),
    }),
  )
  const byStart = new Map(points.map((point) => [point.start, point]))
  for (const { key = 'Unknown', start = '', cost_usd_estimate } of rows) {
    const point = byStart.get(isoOf(Date.parse(start)))
    const name = `s${indexOf.get(key) ?? top.length}` as const
    if (point) point[name] = (point[name] ?? 0) + cost_usd_estimate
  }
  return { points, series }
}
