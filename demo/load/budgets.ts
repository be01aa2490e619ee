import type { DemoApi } from '../demo-api.ts'
import { type DemoPeriod, quarterHourMs } from '../period.ts'
import { listAll } from './lists.ts'

const budget = { name: 'Support', filter: { archetype_id: 'support-agent' }, period: 'month' }
/** Share of the amount that is spent at the end of the demo: above the threshold of 80 %, below that of 100 %. */
const spentShare = 0.86
/** Amount in US dollars if the month has just begun, so that nothing is spent. */
const amountWithoutCosts = 100

/** Adds the budget of the demo. Runs after the telemetry, because the amount follows from what is spent this month. */
export async function addBudget(api: DemoApi, { endMs, timeZone }: DemoPeriod): Promise<void> {
  const path = '/api/v1/budgets'
  const present = await listAll<{ name: string }>(api, path)
  if (present.some(({ name }) => name === budget.name)) return
  const amount = (await spentThisMonth(api, endMs, timeZone)) / spentShare
  const amount_usd = Math.round(amount * 100) / 100 || amountWithoutCosts
  await api.post(path, { body: { ...budget, time_zone: timeZone, amount_usd } })
}

/** Returns the reported cost of the budget's events, in US dollars. */
async function spentThisMonth(api: DemoApi, endMs: number, timeZone: string): Promise<number> {
  const today = Temporal.Instant.fromEpochMilliseconds(endMs).toZonedDateTimeISO(timeZone).toPlainDate()
  const from = new Date(today.with({ day: 1 }).toZonedDateTime(timeZone).epochMilliseconds).toISOString()
  const to = new Date(Math.ceil((endMs + 1) / quarterHourMs) * quarterHourMs).toISOString()
  const query = { from, to, ...budget.filter }
  const { totals } = await api.get<{ totals: { cost_usd_estimate: number } }>('/api/v1/telemetry/summary', query)
  return totals.cost_usd_estimate
}
