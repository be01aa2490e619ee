import { formatCount, formatUsdInFull } from '../../ui/formats.ts'
import type { Row } from './use-metrics.ts'

export type Priced = Pick<Row, 'invocations' | 'unpriced' | 'cost_usd_computed'>

/** Returns true if there are events and none has a price: a sum of zero would be misleading. */
export function isUnpriced({ invocations, unpriced }: Omit<Priced, 'cost_usd_computed'>): boolean {
  return unpriced > 0 && unpriced >= invocations
}

/**
 * Returns the calculated cost as text. Events without a price are not in the sum, so a partial sum is marked as a
 * minimum.
 */
export function listPriceText(row: Priced, format: (value: number) => string): string {
  if (row.unpriced === 0) return format(row.cost_usd_computed)
  return isUnpriced(row) ? 'no price' : `≥ ${format(row.cost_usd_computed)}`
}

/** Returns the tooltip: all digits, and the number of events without a price. */
export function listPriceTitle(row: Priced): string {
  const full = formatUsdInFull(row.cost_usd_computed)
  if (row.unpriced === 0) return full
  const without = `${formatCount(row.unpriced)} of ${formatCount(row.invocations)} invocations have no price`
  return isUnpriced(row) ? without : `${full}; ${without}`
}
