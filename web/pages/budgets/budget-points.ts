import type { ApiResponse } from '../../api/api-client.ts'
import { type Slot, slotsOf } from '../command-center/charts/slots.ts'
import type { Interval } from '../command-center/ranges.ts'
import type { TimeRow } from '../command-center/use-metrics.ts'

export type Budget = ApiResponse<'listBudgets'>['items'][number]

/** An hour or a day of a budget's period: the cost until its end. */
export interface SpendPoint extends Slot {
  /** Absent for a slot of the future. */
  spent?: number
  /** From now to the end of the period, where it is the forecast. */
  forecast?: number
}

export function trendInterval({ period }: Pick<Budget, 'period'>): Interval {
  return period === 'day' ? 'hour' : 'day'
}

/**
 * Returns the cost of a budget's period, added up slot by slot, and a straight line from the present cost to the
 * forecast.
 */
export function spendPoints(budget: Budget, rows: readonly TimeRow[], nowMs: number): SpendPoint[] {
  const span = { from: Date.parse(budget.period_start), to: Date.parse(budget.period_end) }
  const filled = slotsOf(rows, span, trendInterval(budget))
  const cost = (row: TimeRow) => (budget.basis === 'reported' ? row.cost_usd_estimate : row.cost_usd_computed)
  let spent = 0
  return filled.map(({ slot, row }, index) => {
    const next = filled[index + 1]
    const endMs = next ? Date.parse(next.slot.start) : span.to
    if (row) spent += cost(row)
    if (endMs <= nowMs) return { ...slot, spent }
    const isNow = Date.parse(slot.start) <= nowMs
    if (isNow) return { ...slot, spent, forecast: next ? spent : budget.forecast_usd }
    const share = (endMs - nowMs) / (span.to - nowMs)
    return { ...slot, forecast: spent + (budget.forecast_usd - spent) * share }
  })
}
