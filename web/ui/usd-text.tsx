import { formatUsdInColumn, formatUsdInFull, nothing } from './formats.ts'

/** An amount in a cell of a table: as many digits as the others of its column, and all of them on hover. */
export function UsdText({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return nothing
  return <span title={formatUsdInFull(value)}>{formatUsdInColumn(value)}</span>
}
