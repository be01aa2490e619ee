import type { AlertInstance, MetricReading, WholeRule } from './alert-types.ts'

/** The figures of it. */
type Seen = Pick<MetricReading, 'value' | 'invocations'>

const minuteMs = 60_000

/** Whether an alert opens for a group that has none. */
export function shouldOpen(rule: WholeRule, { value, invocations }: Seen): boolean {
  // Costs are what they are; a share, or a percentile, of few says nothing.
  return value > rule.above && (rule.metric === 'cost_usd_per_hour' || invocations >= rule.min_invocations)
}

/**
 * An open alert after a look at its window: `undefined` once it has been at or below what it recovers at for as long
 * as the window is. Few invocations count here as well as many, or an alert of a skill that is hardly used any more
 * would never end.
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
  // Of what was before the window when nobody looked for longer than that, nothing is known.
  if (recoveringSinceMs === undefined || nowMs - seenAtMs > windowMs) return { ...seen, recoveringSinceMs: nowMs }
  return nowMs - recoveringSinceMs >= windowMs ? undefined : seen
}
