import {
  columnSizingFeature,
  columnVisibilityFeature,
  createColumnHelper,
  createSortedRowModel,
  rowSortingFeature,
  sortFns,
  tableFeatures,
} from '@tanstack/react-table'

/** Screens a column is shown on, from this width up. */
export type ColumnFrom = 'always' | 'sm' | 'md' | 'lg' | 'xl'

declare module '@tanstack/react-table' {
  interface ColumnMeta<TFeatures, TData, TValue> {
    /** Figures stand at the right. */
    align?: 'right'
    /** Left out on narrower screens; `always` if absent. */
    from?: ColumnFrom
    /** Name in the choice of columns, where the header is no text. */
    name?: string
    /** Takes what width is left. */
    grow?: boolean
  }
}

/** What tables of this UI can do. */
export const dataTableFeatures = tableFeatures({
  columnSizingFeature,
  columnVisibilityFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns,
})

/** Helper to declare columns: `const column = columnsOf<Row>(); column.columns([column.accessor(…)])`. */
export const columnsOf = <Row extends object>() => createColumnHelper<typeof dataTableFeatures, Row>()
