import type { AlertRule, WebhookThresholds } from '../webhooks-types.ts'

/** What a single invocation must exceed to be told, where an endpoint says nothing else. */
export const thresholdDefaults = { latency_ms: 30_000, cost_usd: 1 } as const

export function wholeThresholds(thresholds: WebhookThresholds): Required<WebhookThresholds> {
  return { ...thresholdDefaults, ...thresholds }
}

/** With fewer in a window, its error rate and latency say nothing. */
export const minInvocationsDefault = 20

/** A rule with what it does not say. */
export function wholeRule(rule: AlertRule): Required<AlertRule> {
  return { recovers_at: rule.above, min_invocations: minInvocationsDefault, ...rule }
}

/** The same for rules that mean the same. */
export function meaningOf(rule: AlertRule): string {
  const { metric, group_by, above, recovers_at, window_minutes, min_invocations } = wholeRule(rule)
  return JSON.stringify([
    ...[metric, group_by, above, recovers_at, window_minutes],
    metric === 'cost_usd_per_hour' ? null : min_invocations,
  ])
}
