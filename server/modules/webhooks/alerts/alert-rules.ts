import type { WindowGroup } from '../../telemetry/summary/window-types.ts'
import { minInvocationsDefault } from '../endpoints/webhooks-schemas.ts'
import type { AlertRule } from '../webhooks-types.ts'

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
export function afterEvaluation(
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

const quarterHourMs = 900_000

export interface AlertWindow {
  /** Both in milliseconds. */
  fromMs: number
  toMs: number
}

/**
 * Returns the window: the current quarter of an hour and the quarters before it that complete the minutes. It covers at
 * least the minutes less a quarter of the past, in whole quarters, as the rollups do.
 *
 * @param windowMinutes a multiple of 15
 */
export function alertWindow(nowMs: number, windowMinutes: number): AlertWindow {
  const toMs = (Math.floor(nowMs / quarterHourMs) + 1) * quarterHourMs
  return { fromMs: toMs - windowMinutes * minuteMs, toMs }
}

/** Fills in the defaults of a rule. */
export function wholeRule(rule: AlertRule): Required<AlertRule> {
  return { recovers_at: rule.above, min_invocations: minInvocationsDefault, ...rule }
}

/** Returns a text that is equal for equivalent rules. */
export function meaningOf(rule: AlertRule): string {
  const { metric, group_by, above, recovers_at, window_minutes, min_invocations } = wholeRule(rule)
  return JSON.stringify([
    ...[metric, group_by, above, recovers_at, window_minutes],
    metric === 'cost_usd_per_hour' ? null : min_invocations,
  ])
}

/** A rule with its defaults filled in. */
export type WholeRule = Required<AlertRule>

/**
 * An open alert: a rule is, or was, exceeded for a skill, user or archetype, and has not recovered for a whole window.
 */
export interface AlertInstance {
  alertId: string
  ruleId: string
  rule: WholeRule
  /** The id of the skill, user or archetype. */
  key: string
  /** RFC 3339, UTC, six fractional digits. */
  openedAt: string
  recoveringSinceMs: number | undefined
  /** The last value. */
  value: number
  invocations: number
  seenAtMs: number
}

/** The values of a group in a window. */
export interface MetricReading {
  /** The value in the unit of the metric. */
  value: number
  invocations: number
  /** The time of the reading, which determines the window. */
  atMs: number
}

/** A rule of an endpoint, in the form that the evaluator uses. */
export interface WatchedRule {
  webhookId: string
  ruleId: string
  rule: WholeRule
  /** The only keys to include; undefined for all. */
  keys: ReadonlySet<string> | undefined
}
