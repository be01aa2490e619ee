import { Box, Loader, Text, UnstyledButton, useMatches } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { type ColumnDef, useTable } from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef } from 'react'
import styles from './data-table.module.css'
import { type ColumnFrom, dataTableFeatures } from './table-columns.ts'

type Features = typeof dataTableFeatures

export interface DataTableProps<Row extends object> {
  /** What it is a table of, for screen readers. */
  label: string
  rows: readonly Row[]
  // biome-ignore lint/suspicious/noExplicitAny: columns of one table have values of many types
  columns: readonly ColumnDef<Features, Row, any>[]
  rowId(row: Row): string
  /** Ids of columns that the reader put away. */
  hiddenColumns?: readonly string[]
  /** A click on a row, or Enter on it. Arrow keys move between rows. */
  onOpen?(row: Row): void
  /** The row whose details are open. */
  openId?: string | undefined
  /** Order the reader chooses by the heads of columns: among these rows, or by the Hub where `onSort` is given. */
  sort?: { id: string; desc: boolean } | undefined
  onSort?(sort: { id: string; desc: boolean }): void
  /** Where more rows can be had: asked for as the end comes near. */
  more?: { available: boolean; loading: boolean; load(): void; failed?: boolean }
  /** Height at most, in CSS units; scrolls within. */
  maxHeight?: string
  /** Height of a row, in pixels. */
  rowHeight?: number
}

const widths: Record<ColumnFrom, number> = { always: 0, sm: 1, md: 2, lg: 3 }

/** A table of any length: only the rows in view are drawn. Cells stay on one line. */
export function DataTable<Row extends object>({
  label,
  rows,
  columns,
  rowId,
  hiddenColumns = [],
  onOpen,
  openId,
  sort,
  onSort,
  more,
  maxHeight = 'max(24rem, calc(100dvh - 18rem))',
  rowHeight = 44,
}: DataTableProps<Row>) {
  const scrolled = useRef<HTMLDivElement>(null)
  const screen = useMatches({ base: 0, sm: 1, md: 2, lg: 3 })
  const columnVisibility = useMemo(() => {
    const tooWide = columns.filter((column) => widths[column.meta?.from ?? 'always'] > screen).map(({ id }) => id ?? '')
    return Object.fromEntries([...hiddenColumns, ...tooWide].map((id) => [id, false]))
  }, [columns, hiddenColumns, screen])
  const table = useTable({
    features: dataTableFeatures,
    data: rows,
    columns,
    getRowId: rowId,
    state: { columnVisibility, ...(onSort && { sorting: sort ? [sort] : [] }) },
    ...(onSort ? { manualSorting: true } : { initialState: { sorting: sort ? [sort] : [] } }),
    onSortingChange: onSort
      ? (updater) => {
          const [next] = typeof updater === 'function' ? updater(sort ? [sort] : []) : updater
          if (next) onSort(next)
        }
      : undefined,
    enableSortingRemoval: false,
  })
  const ordered = table.getRowModel().rows
  const virtual = useVirtualizer({
    count: ordered.length,
    getScrollElement: () => scrolled.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => ordered[index]?.id ?? index,
    overscan: 8,
  })
  const items = virtual.getVirtualItems()
  const lastShown = items.at(-1)?.index ?? -1
  const nearEnd = lastShown >= ordered.length - 15

  useEffect(() => {
    if (nearEnd && more?.available && !more.loading && !more.failed) more.load()
  }, [nearEnd, more])

  const above = items[0]?.start ?? 0
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0)
  const visible = table.getVisibleLeafColumns()

  function onKey(event: KeyboardEvent<HTMLTableRowElement>, row: Row, index: number) {
    if (event.target !== event.currentTarget) return
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      onOpen?.(row)
    }
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -index, End: ordered.length }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = Math.max(0, Math.min(ordered.length - 1, index + step))
    virtual.scrollToIndex(next)
    requestAnimationFrame(() => scrolled.current?.querySelector<HTMLElement>(`tr[data-index="${next}"]`)?.focus())
  }

  return (
    <Box
      ref={scrolled}
      className={styles.frame}
      style={{ maxHeight }}
      tabIndex={onOpen ? undefined : 0}
      role="group"
      aria-label={label}
    >
      <table className={styles.table} aria-rowcount={more?.available ? -1 : ordered.length + 1} aria-label={label}>
        <colgroup>
          {visible.map((column) => (
            <col key={column.id} style={column.columnDef.meta?.grow ? undefined : { width: column.getSize() }} />
          ))}
        </colgroup>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} aria-rowindex={1}>
              {group.headers.map((header) => {
                const direction = header.column.getIsSorted()
                return (
                  <th
                    key={header.id}
                    scope="col"
                    className={header.column.columnDef.meta?.align === 'right' ? styles.right : undefined}
                    aria-sort={direction ? (direction === 'asc' ? 'ascending' : 'descending') : undefined}
                  >
                    {header.column.getCanSort() && (onSort || sort) ? (
                      <UnstyledButton className={styles.sort} onClick={header.column.getToggleSortingHandler()}>
                        <table.FlexRender header={header} />
                        {direction === 'asc' && <IconArrowUp size={14} aria-hidden />}
                        {direction === 'desc' && <IconArrowDown size={14} aria-hidden />}
                      </UnstyledButton>
                    ) : (
                      <table.FlexRender header={header} />
                    )}
                  </th>
                )
              })}
            </tr>
          ))}
        </thead>
        <tbody>
          {above > 0 && (
            <tr aria-hidden style={{ height: above }}>
              <td colSpan={visible.length} className={styles.spacer} />
            </tr>
          )}
          {items.map(({ index }) => {
            const row = ordered[index]
            if (!row) return null
            const open = onOpen && {
              tabIndex: index === (items[0]?.index ?? 0) || row.id === openId ? 0 : -1,
              onClick: (event: MouseEvent<HTMLTableRowElement>) => {
                if (!(event.target as Element).closest('a, button, input, label')) onOpen(row.original)
              },
              onKeyDown: (event: KeyboardEvent<HTMLTableRowElement>) => onKey(event, row.original, index),
            }
            return (
              <tr
                key={row.id}
                data-index={index}
                aria-rowindex={index + 2}
                aria-current={row.id === openId ? 'true' : undefined}
                className={onOpen ? styles.opens : undefined}
                style={{ height: rowHeight }}
                {...open}
              >
                {row.getVisibleCells().map((cell) => (
                  <td
                    key={cell.id}
                    className={cell.column.columnDef.meta?.align === 'right' ? styles.right : undefined}
                  >
                    <table.FlexRender cell={cell} />
                  </td>
                ))}
              </tr>
            )
          })}
          {below > 0 && (
            <tr aria-hidden style={{ height: below }}>
              <td colSpan={visible.length} className={styles.spacer} />
            </tr>
          )}
        </tbody>
      </table>
      {more?.loading && (
        <Box className={styles.end} role="status">
          <Loader size="xs" aria-hidden /> <Text size="sm">Loading more …</Text>
        </Box>
      )}
    </Box>
  )
}
