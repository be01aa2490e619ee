import type { LatencySketch } from '../rollups/latency-sketch.ts'
import type { Figures } from '../rollups/rollup-cells.ts'

/** The numbers of a row of the summary, or of its totals. */
export interface SummaryNumbers {
  invocations: number
  failures: number
  tokens_in: number
  tokens_out: number
  cost_usd_estimate: number
  cost_usd_computed: number
  unpriced: number
  latency_ms: { p50: number; p95: number; p99: number }
}

export function summaryNumbers(figures: Figures): SummaryNumbers {
  return {
    invocations: figures.invocations,
    failures: figures.failures,
    tokens_in: Number(figures.tokensIn.value),
    tokens_out: Number(figures.tokensOut.value),
    cost_usd_estimate: usdOfExactMicros(figures.costEstimate.value),
    cost_usd_computed: usdOfExactMicros(figures.costComputed.value),
    unpriced: figures.unpriced,
    latency_ms: {
      p50: percentile(figures.latency, 0.5),
      p95: percentile(figures.latency, 0.95),
      p99: percentile(figures.latency, 0.99),
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
