import { Text } from '@mantine/core'
import { isUnpriced, listPriceText, listPriceTitle, type Priced } from './list-price-text.ts'

/** Shows the calculated cost in a cell. */
export function ListPrice({ row, format }: { row: Priced; format(value: number): string }) {
  return (
    <Text span inherit c={isUnpriced(row) ? 'dimmed' : undefined} title={listPriceTitle(row)}>
      {listPriceText(row, format)}
    </Text>
  )
}
