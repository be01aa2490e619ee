import type { WindowGroup } from '../../telemetry/summary/window-types.ts'
import type { AlertRule } from '../webhooks-types.ts'

const decimals = 1_000_000

/** Returns the value of a group in a window, in the unit of the metric. */
export function measured(metric: AlertRule['metric'], windowMinutes: number, group: WindowGroup): number {
  return rounded(measureOf(metric, windowMinutes, group))
}

/** The values of a group without data in the window. */
export const nothing = { value: 0, invocations: 0 }

function measureOf(metric: AlertRule['metric'], windowMinutes: number, group: WindowGroup): number {
  if (metric === 'latency_p95_ms') return group.latencyP95Ms
  if (metric === 'cost_usd_per_hour') return group.costUsd / (windowMinutes / 60)
  return group.invocations === 0 ? 0 : group.failures / group.invocations
}

/** Rounds a value, so that the compared value equals the sent one. */
function rounded(value: number): number {
  return Math.round(value * decimals) / decimals
}
