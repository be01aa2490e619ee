import type { TestHub, TestTenant } from '../support/hub.ts'
import { must } from './webhook-cases.ts'

export const budgetsPath = '/api/v1/budgets'

/** The settings of a budget, all of them. */
export const budgetBody = (change: object = {}) => ({
  name: 'Support team',
  filter: { skill_id: 'sum-up' },
  period: 'month',
  time_zone: 'Europe/Berlin',
  amount_usd: 500,
  basis: 'reported',
  thresholds: [50, 80, 100],
  notify: { emails: ['finance@acme.example'], webhook_ids: [] },
  ...change,
})

/** A new budget, as it was answered. */
export async function addBudget(hub: TestHub, tenant: TestTenant = 'acme', change: object = {}) {
  return (await must(hub, tenant, 'POST', budgetsPath, { body: budgetBody(change) })).body
}

/** Bad settings: what they are, the change, and where the problem is. */
export const badSettings: [string, object, string][] = [
  ['an empty name', { name: '' }, '/name'],
  ['a long name', { name: 'x'.repeat(201) }, '/name'],
  ['a name of two lines', { name: 'a\nb' }, '/name'],
  ['another period', { period: 'year' }, '/period'],
  ['no time zone', { time_zone: 'Mars/Olympus' }, '/time_zone'],
  ['an offset', { time_zone: '+05:30' }, '/time_zone'],
  ['a time zone of no text', { time_zone: 1 }, '/time_zone'],
  ['no amount', { amount_usd: 0 }, '/amount_usd'],
  ['a negative amount', { amount_usd: -1 }, '/amount_usd'],
  ['too large an amount', { amount_usd: 1_000_000_001 }, '/amount_usd'],
  ['an amount as text', { amount_usd: '5' }, '/amount_usd'],
  ['another basis', { basis: 'estimated' }, '/basis'],
  ['no thresholds', { thresholds: [] }, '/thresholds'],
  ['too many thresholds', { thresholds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }, '/thresholds'],
  ['a threshold of nothing', { thresholds: [0, 50] }, '/thresholds/0'],
  ['a threshold too high', { thresholds: [50, 1001] }, '/thresholds/1'],
  ['half a percent', { thresholds: [0.5] }, '/thresholds/0'],
  ['thresholds that descend', { thresholds: [80, 50] }, '/thresholds/1'],
  ['a filter by something else', { filter: { team: 'x' } }, '/filter/team'],
  ['a skill that no id can be', { filter: { skill_id: 'a b' } }, '/filter/skill_id'],
  ['a user without their kind', { filter: { user_id: 'kim' } }, '/filter/user_id'],
  ['no address', { notify: { emails: ['nobody'] } }, '/notify/emails/0'],
  ['an address of no domain', { notify: { emails: ['a@acme.example', 'a@1.2.3.4'] } }, '/notify/emails/1'],
  [
    'too many addresses',
    { notify: { emails: Array.from({ length: 21 }, (_, at) => `a${at}@acme.example`) } },
    '/notify/emails',
  ],
  [
    'too many endpoints',
    { notify: { webhook_ids: Array.from({ length: 21 }, (_, at) => `whk_${at}`) } },
    '/notify/webhook_ids',
  ],
  ['an endpoint that nobody has', { notify: { webhook_ids: ['whk_1'] } }, '/notify/webhook_ids/0'],
  ['somebody else to notify', { notify: { phones: [] } }, '/notify/phones'],
  ['a member that there is not', { spent_usd: 0 }, '/spent_usd'],
]
