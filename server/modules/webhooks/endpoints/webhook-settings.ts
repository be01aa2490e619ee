import { type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { webhookAlertReadingsMax } from '../../../../contract/limits.ts'
import { problemOfEventName } from '../../../../contract/webhook-events.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { ValidParts } from '../../../http/body/valid-parts.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import { meaningOf } from '../alerts/alert-rules.ts'
import { countMetrics } from '../alerts/metric-queries.ts'
import type { AlertRule, WebhookSettings } from '../webhooks-types.ts'
import { allWebhooks, type WebhookState } from './webhooks-store.ts'

/** Returns problems of settings beyond their shape. */
export function problemsOfSettings(
  { url, events = [], alerts = [] }: ValidParts<WebhookSettings>,
  outbound: Pick<Outbound, 'problemOf'>,
): PointedError[] {
  const problem = url === undefined ? undefined : (outbound.problemOf(url) ?? problemOfFragment(url))
  return [
    ...(problem === undefined ? [] : [{ pointer: '/url', detail: problem }]),
    ...events.flatMap((name, at) => {
      const detail = name === undefined ? undefined : problemOfEventName(name)
      return detail === undefined ? [] : [{ pointer: `/events/${at}`, detail }]
    }),
    ...problemsOfRules(alerts),
  ]
}

/** Rejects a fragment: it would be stored but never sent. */
function problemOfFragment(url: string): string | undefined {
  return url.includes('#') ? 'must not have a fragment (#…): it is never sent' : undefined
}

function problemsOfRules(rules: readonly (ValidParts<AlertRule> | undefined)[]): PointedError[] {
  const seen = new Map<string, number>()
  return rules.flatMap((rule, at) => {
    if (rule === undefined) return []
    const errors = problemsOfRule(rule).map(({ pointer, detail }) => ({ pointer: `/alerts/${at}${pointer}`, detail }))
    if (!isWhole(rule)) return errors
    const first = seen.get(meaningOf(rule))
    if (first === undefined) seen.set(meaningOf(rule), at)
    else errors.push({ pointer: `/alerts/${at}`, detail: `repeats the rule /alerts/${first}` })
    return errors
  })
}

function problemsOfRule({ metric, above, recovers_at }: ValidParts<AlertRule>): PointedError[] {
  const errors: PointedError[] = []
  if (metric === 'error_rate' && above !== undefined && above > 1) {
    errors.push({ pointer: '/above', detail: 'must be from 0 to 1: an error rate is a ratio' })
  }
  if (above !== undefined && recovers_at !== undefined && recovers_at > above) {
    errors.push({ pointer: '/recovers_at', detail: 'must not be more than `above`' })
  }
  return errors
}

function isWhole(rule: ValidParts<AlertRule>): rule is AlertRule {
  const { metric, group_by, above, window_minutes } = rule
  return metric !== undefined && group_by !== undefined && above !== undefined && window_minutes !== undefined
}

/** Rejects an endpoint without any events. */
export function problemsOfWhole(settings: Pick<WebhookSettings, 'events' | 'alerts'>): PointedError[] {
  if (settings.events.length > 0 || (settings.alerts ?? []).length > 0) return []
  return [{ pointer: '/events', detail: 'must have at least one event if `alerts` has no rules' }]
}

const detail =
  `would take more than ${webhookAlertReadingsMax} readings of telemetry together with the rules of the other endpoints. ` +
  'Rules share a reading where they have the same `group_by` and their endpoints the same `filters` (by skill, regardless of ' +
  '`skill_ids`; by archetype, regardless of `archetype_ids`). Use fewer different filters'

/**
 * Checks the rules of all endpoints of the tenant, with the changed one, against the limit of readings. Disabled
 * endpoints count too, because they may be enabled at any time.
 *
 * @throws DomainError `validation-failed` above the limit, if the change increases the number
 */
export async function checkReadings(
  tx: TenantTx,
  changed: Pick<WebhookState, 'alerts' | 'filters'> & { webhookId: string | undefined },
): Promise<void> {
  if (changed.alerts.length === 0) return
  const before = await allWebhooks(tx)
  const count = countMetrics([...before.filter(({ webhook_id }) => webhook_id !== changed.webhookId), changed])
  if (count <= webhookAlertReadingsMax || count <= countMetrics(before)) return
  throw validationFailed([{ pointer: '/alerts', detail }])
}
