import { type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { isEmail } from '../../../contract/email-address.ts'
import { microsOfUsd, usdOfMicros } from '../../../contract/money.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import { isTimeZone, notATimeZone } from '../../http/time-zone.ts'
import { type BudgetChanges, type BudgetSettings, budgetDefaults } from './budgets-schemas.ts'
import { type BudgetState, existingWebhooks } from './budgets-store.ts'

/** Returns the problems of settings that a schema cannot express. */
export function problemsOfSettings({ time_zone, thresholds, notify }: ValidParts<BudgetChanges>): PointedError[] {
  const errors: PointedError[] = []
  if (time_zone !== undefined && !isTimeZone(time_zone)) errors.push({ pointer: '/time_zone', detail: notATimeZone })
  for (const [index, percent] of (thresholds ?? []).entries()) {
    const before = index === 0 ? undefined : thresholds?.[index - 1]
    if (percent === undefined || before === undefined || percent >= before) continue
    errors.push({ pointer: `/thresholds/${index}`, detail: 'must be greater than the one before: send them ascending' })
  }
  for (const [index, email] of (notify?.emails ?? []).entries()) {
    if (email === undefined || isEmail(email)) continue
    errors.push({ pointer: `/notify/emails/${index}`, detail: 'must be an e-mail address' })
  }
  return errors
}

/** Throws `validation-failed` if an endpoint does not exist, or was removed. */
export async function requireWebhooks(tx: TenantTx, { notify }: Pick<BudgetChanges, 'notify'>): Promise<void> {
  const ids = notify?.webhook_ids ?? []
  if (ids.length === 0) return
  const known = new Set(await existingWebhooks(tx, ids))
  const errors = ids.flatMap((id, index) => {
    const detail = 'is not a webhook endpoint of the tenant: GET /api/v1/webhooks lists them'
    return known.has(id) ? [] : [{ pointer: `/notify/webhook_ids/${index}`, detail }]
  })
  if (errors.length > 0) throw validationFailed(errors)
}

/** Returns the stored form of the settings of a new budget. */
export function newState(settings: BudgetSettings): BudgetState {
  const { name, period, filter = {}, notify = {}, amount_usd } = settings
  const { time_zone, basis, thresholds } = { ...budgetDefaults, ...settings }
  return {
    ...{ name, filter, period, time_zone: zoneOf(time_zone), amount_micros: microsOfUsd(amount_usd), basis },
    ...{ thresholds: [...thresholds], emails: notify.emails ?? [], webhook_ids: notify.webhook_ids ?? [] },
  }
}

/** Applies changes: absent members stay unchanged, `filter` and `notify` are replaced as a whole. */
export function changedState(before: BudgetState, changes: BudgetChanges): BudgetState {
  const { amount_usd, time_zone, notify, ...rest } = changes
  return {
    ...{ ...before, ...rest },
    ...(amount_usd !== undefined && { amount_micros: microsOfUsd(amount_usd) }),
    ...(time_zone !== undefined && { time_zone: zoneOf(time_zone) }),
    ...(notify !== undefined && { emails: notify.emails ?? [], webhook_ids: notify.webhook_ids ?? [] }),
  }
}

/** Returns the usual spelling of a time zone. */
function zoneOf(name: string): string {
  return new Temporal.ZonedDateTime(0n, name).timeZoneId
}

/** Describes a budget for governance events, which are permanent: without the person it filters by, and addresses. */
export function described(state: BudgetState): JsonObject {
  const { name, filter, period, time_zone, amount_micros, basis, thresholds, emails, webhook_ids } = state
  const { user_id, ...others } = filter
  return {
    ...{ name, filter: others, ...(user_id !== undefined && { filters_by_user: true }), period, time_zone },
    ...{ amount_usd: usdOfMicros(amount_micros), basis, thresholds },
    ...{ email_count: emails.length, webhook_ids },
  }
}
