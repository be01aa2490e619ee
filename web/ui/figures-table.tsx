import { useMemo } from 'react'
import { DataTable } from './data-table.tsx'
import type { FigureColumn } from './figures.ts'
import { columnsOf } from './table-columns.ts'

interface FiguresTableProps<Row extends object> {
  label: string
  columns: readonly FigureColumn<Row>[]
  rows: readonly Row[]
  rowId(row: Row): string
  maxHeight?: string
}

/** Figures to read: the first column names the row, the others are numbers. */
export function FiguresTable<Row extends object>({ label, columns, rows, rowId, maxHeight }: FiguresTableProps<Row>) {
  const drawn = useMemo(() => {
    const column = columnsOf<Row>()
    return column.columns(
      columns.map(({ id, label: header, value, text, from }, index) =>
        column.accessor((row: Row) => value(row), {
          id,
          header,
          cell: ({ row }) => (text ? text(row.original) : String(value(row.original) ?? '')),
          enableSorting: false,
          size: index === 0 ? 170 : 110,
          meta: { ...(index === 0 ? { grow: true } : { align: 'right' as const }), ...(from && { from }) },
        }),
      ),
    )
  }, [columns])
  return (
    <DataTable
      label={label}
      columns={drawn}
      rows={rows}
      rowId={rowId}
      rowHeight={32}
      {...(maxHeight && { maxHeight })}
    />
  )
}
