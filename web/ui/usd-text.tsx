import { formatUsdInColumn, formatUsdInFull, nothing } from './formats.ts'

/** Shows an amount in a table cell: with the digits of its column, and all of them on hover. */
export function UsdText({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return nothing
  return <span title={formatUsdInFull(value)}>{formatUsdInColumn(value)}</span>
}
