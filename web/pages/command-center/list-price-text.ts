import { formatCount, formatUsdInFull } from '../../ui/formats.ts'
import type { Row } from './use-metrics.ts'

export type Priced = Pick<Row, 'invocations' | 'unpriced' | 'cost_usd_computed'>

/** Whether there are events, and none has a price: a sum of nothing would look like a gift. */
export function isUnpriced({ invocations, unpriced }: Omit<Priced, 'cost_usd_computed'>): boolean {
  return unpriced > 0 && unpriced >= invocations
}

/** Costs by list prices: of events without a price nothing is known, and a sum of some of them is the least it can be. */
export function listPriceText(row: Priced, format: (value: number) => string): string {
  if (row.unpriced === 0) return format(row.cost_usd_computed)
  return isUnpriced(row) ? 'no price' : `≥ ${format(row.cost_usd_computed)}`
}

/** What is behind it: all digits, and how many have no price. */
export function listPriceTitle(row: Priced): string {
  const full = formatUsdInFull(row.cost_usd_computed)
  if (row.unpriced === 0) return full
  const without = `${formatCount(row.unpriced)} of ${formatCount(row.invocations)} invocations have no price`
  return isUnpriced(row) ? without : `${full}; ${without}`
}
