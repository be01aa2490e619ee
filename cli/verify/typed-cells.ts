import {
  csvCell,
  type ExportColumn,
  microsOfTimestamp,
  provenanceColumns,
  type TypedValue,
  typedColumns,
  typedValue,
  verifiedColumn,
} from '../../contract/export-columns.ts'
import type { JsonObject } from '../../provenance/index.ts'

/** The positions of the columns in a file. */
export interface ColumnLayout {
  /** The number of columns. */
  count: number
  hasProvenance: boolean
  hasVerified: boolean
}

/** Returns the layout; undefined unless the columns are those of an export, in their order. */
export function layoutOf(names: readonly string[]): ColumnLayout | undefined {
  const typed = typedColumns.map(({ name }) => name)
  for (const hasProvenance of [true, false]) {
    for (const hasVerified of [true, false]) {
      const expected = [...typed, ...(hasProvenance ? provenanceColumns : []), ...(hasVerified ? [verifiedColumn] : [])]
      if (names.length === expected.length && names.every((name, i) => name === expected[i])) {
        return { count: names.length, hasProvenance, hasVerified }
      }
    }
  }
  return undefined
}

/**
 * Returns the problems of a row's typed cells.
 *
 * @param cells in the order of the columns
 * @param isSame returns true if a cell has the value of the record
 */
export function problemsOfCells<Cell>(
  cells: readonly Cell[],
  record: JsonObject,
  layout: ColumnLayout,
  isSame: (column: ExportColumn, cell: Cell, value: TypedValue) => boolean,
): string[] {
  const problems = typedColumns.flatMap((column, i) =>
    isSame(column, cells[i] as Cell, typedValue(column, record))
      ? []
      : [`cell-mismatch: the column ${column.name} does not say what the canonical text does`],
  )
  if (layout.hasVerified && String(cells.at(-1)) !== 'true') {
    problems.push('hub-verification: by its column "verified", the Hub itself found something wrong with it')
  }
  return problems
}

export function isSameCsvCell({ type }: ExportColumn, cell: string, value: TypedValue): boolean {
  return cell === csvCell(type, value)
}

/** @param cell null, text, a number or a bigint; timestamps in microseconds */
export function isSameParquetCell({ type }: ExportColumn, cell: unknown, value: TypedValue): boolean {
  if (value === null || cell === null || cell === undefined) return value === null && (cell ?? null) === null
  if (type === 'timestamp') return cell === microsOfTimestamp(value as string)
  return (typeof cell === 'bigint' && typeof value === 'number' ? Number(cell) : cell) === value
}
