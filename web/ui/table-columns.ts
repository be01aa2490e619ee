import {
  columnSizingFeature,
  columnVisibilityFeature,
  createColumnHelper,
  createSortedRowModel,
  rowSortingFeature,
  sortFns,
  tableFeatures,
} from '@tanstack/react-table'

/** The minimum screen width that shows a column. */
export type ColumnFrom = 'always' | 'sm' | 'md' | 'lg' | 'xl' | 'xxl'

declare module '@tanstack/react-table' {
  interface ColumnMeta<TFeatures, TData, TValue> {
    /** Numbers are aligned right. */
    align?: 'right'
    /** The minimum screen width that shows the column; defaults to `always`. */
    from?: ColumnFrom
    /** The name in the columns menu, if the header is not a text. */
    name?: string
    /** True to take the remaining width. */
    grow?: boolean
  }
}

/** The features of this UI's tables. */
export const dataTableFeatures = tableFeatures({
  columnSizingFeature,
  columnVisibilityFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns,
})

/** Declares columns: `const column = columnsOf<Row>(); column.columns([column.accessor(…)])`. */
export const columnsOf = <Row extends object>() => createColumnHelper<typeof dataTableFeatures, Row>()
