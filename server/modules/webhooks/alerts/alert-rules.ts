import type { AlertInstance, MetricReading, WholeRule } from './alert-types.ts'

/** The values of a reading. */
type Seen = Pick<MetricReading, 'value' | 'invocations'>

const minuteMs = 60_000

/** Returns whether an alert opens for a group without one. */
export function shouldOpen(rule: WholeRule, { value, invocations }: Seen): boolean {
  // Costs count regardless of the number of invocations; a rate or a percentile of few invocations says nothing.
  return value > rule.above && (rule.metric === 'cost_usd_per_hour' || invocations >= rule.min_invocations)
}

/**
 * Returns an open alert after a reading of its window; `undefined` once it was at or below its recovery value for a
 * whole window. The number of invocations does not count here: otherwise an alert of a skill that is hardly used would
 * never end.
 */
export function afterLook(
  episode: AlertInstance,
  { value, invocations }: Seen,
  nowMs: number,
): AlertInstance | undefined {
  const { rule, recoveringSinceMs, seenAtMs } = episode
  const seen = { ...episode, value, invocations, seenAtMs: nowMs }
  const windowMs = rule.window_minutes * minuteMs
  if (value > Math.min(rule.recovers_at, rule.above)) return { ...seen, recoveringSinceMs: undefined }
  // If nobody looked for longer than the window, the time before it is unknown.
  if (recoveringSinceMs === undefined || nowMs - seenAtMs > windowMs) return { ...seen, recoveringSinceMs: nowMs }
  return nowMs - recoveringSinceMs >= windowMs ? undefined : seen
}
