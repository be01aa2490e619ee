import type { AlertRule, WebhookThresholds } from '../webhooks-types.ts'

/** Default thresholds for messages about single invocations. */
export const thresholdDefaults = { latency_ms: 30_000, cost_usd: 1 } as const

export function wholeThresholds(thresholds: WebhookThresholds): Required<WebhookThresholds> {
  return { ...thresholdDefaults, ...thresholds }
}

/** Minimum number of invocations in a window: error rate and latency of fewer say nothing. */
export const minInvocationsDefault = 20

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
