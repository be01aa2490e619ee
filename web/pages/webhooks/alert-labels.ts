import { formatMs, formatPercent, formatUsd } from '../../ui/formats.ts'
import type { Rule } from './webhook-form.ts'

export const metricLabels: Record<Rule['metric'], string> = {
  error_rate: 'Error rate',
  latency_p95_ms: 'p95 latency',
  cost_usd_per_hour: 'Cost per hour',
}

export const groupLabels: Record<Rule['group_by'], string> = { skill: 'Skill', user: 'Person', archetype: 'Archetype' }

const formats: Record<Rule['metric'], (value: number) => string> = {
  error_rate: formatPercent,
  latency_p95_ms: formatMs,
  cost_usd_per_hour: formatUsd,
}

/** Returns a value of a metric with its unit: 20%, 1.2 s, $5.00. */
export function formatMetric(metric: Rule['metric'], value: number): string {
  return formats[metric](value)
}

/** Returns a rule as text: "Error rate of a skill above 20% over 60 minutes" */
export function describeRule({ metric, group_by, above, window_minutes }: Rule): string {
  return `${metricLabels[metric]} of a ${groupLabels[group_by].toLowerCase()} above ${formatMetric(metric, above)} over ${window_minutes} minutes`
}
