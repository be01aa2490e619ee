import type { Figures } from '../rollups/rollup-cells.ts'
import { usdOfExactMicros } from './summary-response.ts'

/** The numbers of a row of the reconciliation, or of its totals. */
export interface ReconciliationNumbers {
  invocations: number
  unpriced: number
  cost_usd_estimate: number
  cost_usd_computed: number
  variance_usd: number
  variance_ratio?: number
}

export function reconciliationNumbers({ invocations, unpriced, ...costs }: Figures): ReconciliationNumbers {
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
