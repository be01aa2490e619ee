import type { Static } from 'typebox'
import { usdOfMicros } from '../../../contract/money.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Spending, SpendingQuestion } from '../telemetry/summary/spending-types.ts'
import { forecastMicros, type Period, periodAt } from './budget-period.ts'
import type { BudgetSchema } from './budgets-schemas.ts'
import type { BudgetRow } from './budgets-store.ts'

/** A budget in one of its periods. */
export interface BudgetPeriod {
  row: BudgetRow
  period: Period
}

/** Returns a budget in the period that contains a time. */
export function runningPeriod(row: BudgetRow, nowMs: number): BudgetPeriod {
  return { row, period: periodAt(nowMs, row.period, row.time_zone) }
}

/** Returns the costs to add for a budget in a period. */
export function questionOf({ row, period }: BudgetPeriod): SpendingQuestion {
  return { fromMs: period.startMs, toMs: period.endMs, filters: row.filter }
}

/** Returns the cost that counts for a budget. */
export function spentMicrosOf({ basis }: Pick<BudgetRow, 'basis'>, spending: Spending): bigint {
  return basis === 'reported' ? spending.reportedMicros : spending.calculatedMicros
}

/** Returns the thresholds that a cost reaches, in percent. The comparison is exact. */
export function reachedBy(row: Pick<BudgetRow, 'amount_micros' | 'thresholds'>, spentMicros: bigint): number[] {
  return row.thresholds.filter((percent) => spentMicros * 100n >= BigInt(row.amount_micros) * BigInt(percent))
}

/**
 * Converts a budget to the response.
 *
 * @param fired thresholds that were reported in the period; they count as reached even if costs were corrected
 * @param showsEmails whether the caller may see addresses of recipients, instead of their number
 */
export function toBudgetResponse(
  { row, period }: BudgetPeriod,
  {
    spentMicros,
    fired,
    nowMs,
    showsEmails,
  }: { spentMicros: bigint; fired: readonly number[]; nowMs: number; showsEmails: boolean },
): Static<typeof BudgetSchema> {
  const { budget_id, name, filter, time_zone, basis, thresholds, emails, webhook_ids } = row
  const recipients = showsEmails ? { emails } : { emails: [], email_count: emails.length }
  const reached = new Set([...fired, ...reachedBy(row, spentMicros)])
  return {
    ...{ budget_id, name, filter, period: row.period, time_zone },
    amount_usd: usdOfMicros(row.amount_micros),
    ...{ basis, thresholds, notify: { ...recipients, webhook_ids } },
    spent_usd: usdOf(spentMicros),
    forecast_usd: usdOf(forecastMicros(spentMicros, period, nowMs)),
    period_start: formatTimestamp(period.startMs),
    period_end: formatTimestamp(period.endMs),
    reached: [...reached].sort((a, b) => a - b),
    ...{ created_at: row.created_at, created_by: row.created_by, updated_at: row.updated_at },
  }
}

/** Returns micro-dollars in dollars, with at most six decimals. */
export function usdOf(micros: bigint): number {
  return usdOfMicros(Number(micros))
}
