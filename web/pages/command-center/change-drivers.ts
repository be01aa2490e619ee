import type { Row } from './use-metrics.ts'

/** Metrics whose change is explained, in the order of the page. */
export const explained = [
  { metric: 'cost', label: 'Reported cost' },
  { metric: 'failures', label: 'Failures' },
  { metric: 'latency', label: 'p95 latency' },
] as const
export type ExplainedMetric = (typeof explained)[number]['metric']

/** Minimum number of invocations in each period: a percentile of fewer moves at random. */
export const fewestForLatency = 20
const driversShown = 3

export interface Driver {
  key: string
  now: number
  before: number
}

const values: Record<ExplainedMetric, (row: Row) => number> = {
  cost: (row) => row.cost_usd_estimate,
  failures: (row) => row.failures,
  latency: (row) => row.latency_ms.p95,
}

/**
 * Returns the keys of a dimension whose value changed most from the previous period, in either direction, at most
 * three. A key without events in a period counts as zero for sums; percentiles need enough events in both periods.
 */
export function driversOf(metric: ExplainedMetric, now: readonly Row[], before: readonly Row[]): Driver[] {
  const value = values[metric]
  const current = byKey(now)
  const earlier = byKey(before)
  return [...new Set([...current.keys(), ...earlier.keys()])]
    .flatMap((key): Driver[] => {
      const [row, previous] = [current.get(key), earlier.get(key)]
      if (metric === 'latency' && Math.min(row?.invocations ?? 0, previous?.invocations ?? 0) < fewestForLatency)
        return []
      return [{ key, now: row ? value(row) : 0, before: previous ? value(previous) : 0 }]
    })
    .filter((driver) => driver.now !== driver.before)
    .toSorted((one, other) => Math.abs(other.now - other.before) - Math.abs(one.now - one.before))
    .slice(0, driversShown)
}

function byKey(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.flatMap((row) => (row.key === undefined ? [] : [[row.key, row]])))
}
