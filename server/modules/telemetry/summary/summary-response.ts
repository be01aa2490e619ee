import type { Static } from 'typebox'
import type { LatencySketch } from '../rollups/latency-sketch.ts'
import type { Metrics } from '../rollups/rollup-cells.ts'
import type { ReconciliationPage, SummaryPage } from './summary-schemas.ts'

/** Returns the members of a row of the summary, or of its totals. */
export function summaryNumbers(metrics: Metrics): Static<typeof SummaryPage>['totals'] {
  return {
    invocations: metrics.invocations,
    failures: metrics.failures,
    tokens_in: Number(metrics.tokensIn.value),
    tokens_out: Number(metrics.tokensOut.value),
    cost_usd_estimate: usdOfExactMicros(metrics.costEstimate.value),
    cost_usd_computed: usdOfExactMicros(metrics.costComputed.value),
    unpriced: metrics.unpriced,
    latency_ms: {
      p50: percentile(metrics.latency, 0.5),
      p95: percentile(metrics.latency, 0.95),
      p99: percentile(metrics.latency, 0.99),
    },
  }
}

/**
 * Returns the percentile in whole milliseconds. Rounding adds at most half a millisecond to an error that begins at 128
 * ms.
 */
export function percentile(latency: LatencySketch, q: number): number {
  return Math.round(latency.quantile(q) ?? 0)
}

/** Returns the number nearest to the amount in dollars; JSON writes it with at most six decimals. */
export function usdOfExactMicros(micros: bigint): number {
  const digits = String(micros < 0n ? -micros : micros).padStart(7, '0')
  const usd = Number(`${digits.slice(0, -6)}.${digits.slice(-6)}`)
  return micros < 0n ? -usd : usd
}

/** Returns the members of a row of the reconciliation, or of its totals. */
export function reconciliationNumbers({
  invocations,
  unpriced,
  ...costs
}: Metrics): Static<typeof ReconciliationPage>['totals'] {
  const estimate = costs.costEstimate.value
  const computed = costs.costComputed.value
  const variance = estimate - computed
  return {
    invocations,
    unpriced,
    cost_usd_estimate: usdOfExactMicros(estimate),
    cost_usd_computed: usdOfExactMicros(computed),
    variance_usd: usdOfExactMicros(variance),
    ...(computed === 0n ? {} : { variance_ratio: ratioOf(variance, computed) }),
  }
}

/** Returns a ratio with six decimals. */
export function ratioOf(part: bigint, whole: bigint): number {
  return Math.round((Number(part) / Number(whole)) * 1e6) / 1e6
}
