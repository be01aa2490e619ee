import * as v from 'valibot'
import type { WebhookFormat } from '../../../contract/webhook-formats.ts'
import type { ApiResponse, Body } from '../../api/api-client.ts'

export type Webhook = ApiResponse<'getWebhook'>
export type Rule = NonNullable<Webhook['alerts']>[number]
type Amount = number | ''

/** The form's values; unset numbers are empty. */
export interface WebhookValues {
  url: string
  description: string
  format: WebhookFormat
  events: string[]
  thresholds: { latency_ms: Amount; cost_usd: Amount }
  filters: { skill_ids: string[]; archetype_ids: string[] }
  alerts: RuleValues[]
}

export interface RuleValues {
  /** Exists in the form only, so that rules keep their position. */
  key: string
  metric: Rule['metric']
  group_by: Rule['group_by']
  above: Amount
  recovers_at: Amount
  window_minutes: Amount
  min_invocations: Amount
}

const optionalAmount = (most: number) =>
  v.union(
    [v.literal(''), v.pipe(v.number(), v.minValue(0), v.maxValue(most))],
    `A number from 0 to ${most.toLocaleString()}, or nothing`,
  )
const amount = v.pipe(v.unknown(), v.number('Say how much'), v.minValue(0, 'Not below 0'))

const rule = v.object({
  above: amount,
  recovers_at: v.union([v.literal(''), amount]),
  window_minutes: v.pipe(
    v.unknown(),
    v.number('Say how long'),
    v.minValue(15, 'At least 15'),
    v.maxValue(1440, 'At most 1,440, which is a day'),
    v.multipleOf(15, 'In quarters of an hour: 15, 30, 45, 60 …'),
  ),
  min_invocations: v.union([v.literal(''), v.pipe(v.number(), v.minValue(1, 'At least 1'))]),
})

/** Checks values before the request. Only the Hub checks the address, because it knows the permitted targets. */
export const webhookSchema = v.pipe(
  v.object({
    url: v.pipe(v.string(), v.trim(), v.url('Give a whole address, such as https://hooks.acme.example/hub')),
    description: v.pipe(v.string(), v.maxLength(500, 'At most 500 characters')),
    events: v.array(v.string()),
    thresholds: v.object({ latency_ms: optionalAmount(600_000), cost_usd: optionalAmount(1_000_000) }),
    alerts: v.array(rule),
  }),
  v.forward(
    v.partialCheck(
      [['events'], ['alerts']],
      ({ events, alerts }) => events.length + alerts.length > 0,
      'Choose at least one event, or add an alert rule',
    ),
    ['events'],
  ),
)

const hostsOf: Record<Exclude<WebhookFormat, 'hub'>, RegExp> = {
  slack: /(^|\.)hooks\.slack(-gov)?\.com$/,
  teams: /\.(webhook\.office\.com|logic\.azure\.com|api\.powerplatform\.com)$/,
}

/** Returns the format that the address of a known chat service takes. */
export function formatOfUrl(url: string): WebhookFormat | undefined {
  const host = URL.parse(url.trim())?.hostname ?? ''
  if (hostsOf.slack.test(host)) return 'slack'
  return hostsOf.teams.test(host) ? 'teams' : undefined
}

/** Returns true if thresholds apply to the selected events. */
export const usesThreshold = (events: readonly string[], kind: string) =>
  events.includes('skill.*') || events.includes(kind)

/** Returns true if filters apply to the selected events and alerts. */
export const usesFilters = ({ events, alerts }: WebhookValues) =>
  alerts.length > 0 || events.some((name) => name.startsWith('skill.'))

export function newRule(): RuleValues {
  return {
    ...{ key: crypto.randomUUID(), metric: 'error_rate', group_by: 'skill', above: 0.2 },
    ...{ recovers_at: '', window_minutes: 60, min_invocations: '' },
  }
}

export function valuesOf(webhook?: Webhook): WebhookValues {
  const { url = '', description = '', format = 'hub', events = [], thresholds, filters, alerts = [] } = webhook ?? {}
  return {
    ...{ url, description, format, events: [...events] },
    thresholds: { latency_ms: thresholds?.latency_ms ?? '', cost_usd: thresholds?.cost_usd ?? '' },
    filters: { skill_ids: filters?.skill_ids ?? [], archetype_ids: filters?.archetype_ids ?? [] },
    alerts: alerts.map((each) => ({ ...newRule(), recovers_at: '', min_invocations: '', ...each })),
  }
}

/** Returns the request body. It contains every member, so that emptied ones are removed. */
export function bodyOf(values: WebhookValues): Body<'createWebhook'> {
  const { url, description, format, events, thresholds, filters, alerts } = values
  const { latency_ms, cost_usd } = thresholds
  return {
    ...{ url: url.trim(), description: description.trim(), format, events },
    thresholds: { ...(latency_ms !== '' && { latency_ms }), ...(cost_usd !== '' && { cost_usd }) },
    filters: {
      ...(filters.skill_ids.length > 0 && { skill_ids: filters.skill_ids }),
      ...(filters.archetype_ids.length > 0 && { archetype_ids: filters.archetype_ids }),
    },
    alerts: alerts.map(({ metric, group_by, above, recovers_at, window_minutes, min_invocations }) => ({
      ...{ metric, group_by, above: Number(above), window_minutes: Number(window_minutes) },
      ...(recovers_at !== '' && { recovers_at }),
      ...(min_invocations !== '' && { min_invocations }),
    })),
  }
}
