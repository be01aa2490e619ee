import { type Static, Type } from 'typebox'
import { dimensionFilters } from '../../../contract/dimension-filters.ts'
import { emailLengthMax } from '../../../contract/email-address.ts'
import {
  budgetNameLengthMax,
  budgetRecipientsMax,
  budgetThresholdPercentMax,
  budgetThresholdsMax,
} from '../../../contract/limits.ts'
import { patterns } from '../../../contract/literals.ts'
import { costUsdMax } from '../../../contract/money.ts'
import { object } from '../../../contract/object-schema.ts'
import { NextCursor } from '../../../contract/response-schemas.ts'

/** Settings that a new budget has unless the body names others. */
export const budgetDefaults = { time_zone: 'UTC', basis: 'reported', thresholds: [50, 80, 100] } as const

const time = (description: string, example = '2026-07-01T09:30:00.000000Z') =>
  Type.String({ format: 'date-time', description, examples: [example] })

const BudgetId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the budget',
  examples: ['bud_7Kd2mQx9RtVb4LhZs8WcNp3F'],
})
const Name = Type.String({
  minLength: 1,
  maxLength: budgetNameLengthMax,
  pattern: '^[^\\s\\p{C}]([^\\p{C}]*[^\\s\\p{C}])?$',
  'x-must-be': `1 to ${budgetNameLengthMax} characters, without line breaks, and without spaces at either end`,
  description: 'Name of the budget',
  examples: ['Support team'],
})
const Filter = object(dimensionFilters, {
  description: 'The events that count, all conditions together; all events if empty',
  examples: [{ skill_id: 'summarise-ticket' }],
})
const Period = Type.Enum(['day', 'week', 'month'], {
  description: 'Length of the period; a week begins on Monday',
  examples: ['month'],
})
const TimeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'IANA time zone in which the period begins at midnight',
  examples: ['Europe/Berlin'],
})
const Amount = Type.Number({
  minimum: 0.000001,
  maximum: costUsdMax,
  description: 'Amount for each period in US dollars, rounded to six decimals',
  examples: [500],
})
const Basis = Type.Enum(['reported', 'calculated'], {
  description: 'Cost that counts: reported by the sender, or calculated from prices',
  examples: ['reported'],
})
const Thresholds = Type.Array(Type.Integer({ minimum: 1, maximum: budgetThresholdPercentMax }), {
  minItems: 1,
  maxItems: budgetThresholdsMax,
  uniqueItems: true,
  description: 'Percent of the amount, ascending. Each is reported once a period',
  examples: [[50, 80, 100]],
})
const Notify = object(
  {
    emails: Type.Optional(
      Type.Array(Type.String({ maxLength: emailLengthMax, pattern: patterns.email }), {
        maxItems: budgetRecipientsMax,
        uniqueItems: true,
        description: 'Addresses that receive a mail, if the service sends mail',
        examples: [['finance@acme.example']],
      }),
    ),
    webhook_ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        maxItems: budgetRecipientsMax,
        uniqueItems: true,
        description: 'Webhook endpoints that receive `budget.threshold_reached`, regardless of their `events`',
        examples: [['whk_7Kd2mQx9RtVb4LhZs8WcNp3F']],
      }),
    ),
  },
  {
    description: 'Recipients, besides the endpoints that subscribe to `budget.threshold_reached`',
    examples: [{ emails: ['finance@acme.example'], webhook_ids: [] }],
  },
)

export const BudgetBody = object({
  name: Name,
  filter: Type.Optional(Filter),
  period: Period,
  time_zone: Type.Optional({ ...TimeZone, default: budgetDefaults.time_zone }),
  amount_usd: Amount,
  basis: Type.Optional({ ...Basis, default: budgetDefaults.basis }),
  thresholds: Type.Optional({ ...Thresholds, default: [...budgetDefaults.thresholds] }),
  notify: Type.Optional(Notify),
})
export type BudgetSettings = Static<typeof BudgetBody>

export const BudgetChangesBody = object({
  name: Type.Optional(Name),
  filter: Type.Optional(Filter),
  period: Type.Optional(Period),
  time_zone: Type.Optional(TimeZone),
  amount_usd: Type.Optional(Amount),
  basis: Type.Optional(Basis),
  thresholds: Type.Optional(Thresholds),
  notify: Type.Optional(Notify),
})
export type BudgetChanges = Static<typeof BudgetChangesBody>

export const BudgetSchema = object({
  budget_id: BudgetId,
  name: Name,
  filter: Filter,
  period: Period,
  time_zone: TimeZone,
  amount_usd: Amount,
  basis: Basis,
  thresholds: Thresholds,
  notify: object(
    {
      emails: Type.Array(Type.String(), {
        description: 'E-mail addresses; empty for callers who may not change budgets',
        examples: [['finance@acme.example']],
      }),
      email_count: Type.Optional(
        Type.Integer({
          description: 'Number of e-mail addresses, for callers who may not change budgets',
          examples: [1],
        }),
      ),
      webhook_ids: Type.Array(Type.String()),
    },
    {
      description: 'Recipients',
      examples: [{ emails: ['finance@acme.example'], webhook_ids: [] }],
    },
  ),
  spent_usd: Type.Number({ description: 'Exact cost in the running period', examples: [412.5] }),
  forecast_usd: Type.Number({
    description:
      'Forecast for the whole period: `spent_usd` divided by the elapsed share of the period, which counts as at least 5 %',
    examples: [690.1],
  }),
  period_start: time('Beginning of the running period', '2026-06-30T22:00:00.000000Z'),
  period_end: time('End of the running period, exclusive', '2026-07-31T22:00:00.000000Z'),
  reached: Type.Array(Type.Integer(), {
    description: 'Thresholds that were reached in the running period, in percent, ascending',
    examples: [[50, 80]],
  }),
  created_at: time('Time of creation'),
  created_by: Type.String({ description: 'Subject that created it', examples: ['usr_Ab3xQ8ZrT2vYw0LxNp6BdHs9'] }),
  updated_at: time('Time of the last change'),
})

export const BudgetList = object({ items: Type.Array(BudgetSchema), next_cursor: NextCursor })

export const BudgetParams = object({ budget_id: BudgetId })

export const budgetLocation = { location: Type.String({ description: 'Path of the budget' }) }
