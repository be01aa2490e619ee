import { useMemo } from 'react'
import { DataTable } from './data-table.tsx'
import { type MetricColumn, metricWidth } from './metric-columns.ts'
import { columnsOf } from './table-columns.ts'

interface FiguresTableProps<Row extends object> {
  label: string
  columns: readonly MetricColumn<Row>[]
  rows: readonly Row[]
  rowId(row: Row): string
  maxHeight?: string
}

/** Shows values: the first column names the row, the others are numbers. */
export function FiguresTable<Row extends object>({ label, columns, rows, rowId, maxHeight }: FiguresTableProps<Row>) {
  const drawn = useMemo(() => {
    const column = columnsOf<Row>()
    return column.columns(
      columns.map(({ id, label: header, value, text, from }, index) => {
        const said = (row: Row) => (text ? text(row) : String(value(row) ?? ''))
        // The table is as wide as its content, since the charts it replaces are narrow.
        const letters = rows.reduce((most, row) => Math.max(most, said(row).length), header.length)
        return column.accessor((row: Row) => value(row), {
          id,
          header,
          cell: ({ row }) => said(row.original),
          enableSorting: false,
          size: metricWidth(letters, index === 0 ? 'word' : 'figure'),
          meta: { ...(index === 0 ? { grow: true } : { align: 'right' as const }), ...(from && { from }) },
        })
      }),
    )
  }, [columns, rows])
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
