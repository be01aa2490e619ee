import type { WindowGroup } from '../../telemetry/summary/window-types.ts'
import type { Sight, WholeRule } from './alert-types.ts'

const decimals = 1_000_000

/** What a window shows of a group by the metric of a rule. */
export function sightOf(rule: WholeRule, group: WindowGroup): Sight {
  return { value: rounded(measureOf(rule, group)), invocations: group.invocations }
}

/** Of a group that nothing is left of in the window. */
export const nothing: Sight = { value: 0, invocations: 0 }

function measureOf({ metric, window_minutes }: WholeRule, group: WindowGroup): number {
  if (metric === 'latency_p95_ms') return group.latencyP95Ms
  if (metric === 'cost_usd_per_hour') return group.costUsd / (window_minutes / 60)
  return group.invocations === 0 ? 0 : group.failures / group.invocations
}

/** What is compared is what is told. */
function rounded(value: number): number {
  return Math.round(value * decimals) / decimals
}
