import { Box, Button, Loader, Text, UnstyledButton, useMatches } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { type ColumnDef, FlexRender, type Row as TableRow, useTable } from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
  type MouseEvent,
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
} from 'react'
import styles from './data-table.module.css'
import { type ColumnFrom, dataTableFeatures } from './table-columns.ts'
import { fillHeight, useFillHeight } from './use-fill-height.ts'

type Features = typeof dataTableFeatures

export interface DataTableProps<Row extends object> {
  /** The name of the table, for screen readers. */
  label: string
  rows: readonly Row[]
  // biome-ignore lint/suspicious/noExplicitAny: columns of one table have values of many types
  columns: readonly ColumnDef<Features, Row, any>[]
  rowId(row: Row): string
  /** Ids of columns that the user has hidden. */
  hiddenColumns?: readonly string[]
  /** Called on a click on a row, or Enter or `o` on it. Arrow keys and `j` and `k` move between rows. */
  onOpen?(row: Row): void
  /** The row whose details are open. */
  openId?: string | undefined
  /** The order selected by the column headers: of these rows, or by the Hub if `onSort` is given. */
  sort?: { id: string; desc: boolean } | undefined
  onSort?(sort: { id: string; desc: boolean }): void
  /** Loads more rows as the end comes near. */
  more?: { available: boolean; loading: boolean; load(): void; failed?: boolean }
  /** Maximum height, in CSS units; the table scrolls within. Defaults to the rest of the window below its position. */
  maxHeight?: string
  /** Height of a row, in pixels. */
  rowHeight?: number
}

const widths: Record<ColumnFrom, number> = { always: 0, sm: 1, md: 2, lg: 3, xl: 4, xxl: 5 }

/** Returns the id of a column as in TanStack Table: a column of a plain member has its name. */
function idOf<Row extends object>(column: ColumnDef<Features, Row, unknown>): string {
  return column.id ?? ('accessorKey' in column ? String(column.accessorKey).replaceAll('.', '_') : '')
}

/** Shows a table of any length: renders only visible rows. Cells have one line. */
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
  maxHeight,
  rowHeight = 44,
}: DataTableProps<Row>) {
  const scrolled = useRef<HTMLDivElement>(null)
  useFillHeight(scrolled, maxHeight === undefined)
  const manual = onSort !== undefined
  const screen = useMatches({ base: 0, sm: 1, md: 2, lg: 3, xl: 4, xxl: 5 })
  const columnVisibility = useMemo(() => {
    const tooWide = columns.filter((column) => widths[column.meta?.from ?? 'always'] > screen).map(idOf)
    return Object.fromEntries([...hiddenColumns, ...tooWide].map((id) => [id, false]))
  }, [columns, hiddenColumns, screen])
  // Keeps the same objects while their content is equal: for others the table processes all rows again.
  const { id: sortedBy, desc = false } = sort ?? {}
  const sorting = useMemo(() => (sortedBy === undefined ? [] : [{ id: sortedBy, desc }]), [sortedBy, desc])
  const state = useMemo(() => ({ columnVisibility, ...(manual && { sorting }) }), [columnVisibility, sorting, manual])
  const table = useTable({
    features: dataTableFeatures,
    data: rows,
    columns,
    getRowId: rowId,
    state,
    ...(onSort ? { manualSorting: true } : { initialState: { sorting } }),
    onSortingChange: onSort
      ? (updater) => {
          const [next] = typeof updater === 'function' ? updater(sorting) : updater
          if (next) onSort(next)
        }
      : undefined,
    enableSortingRemoval: false,
  })
  const ordered = table.getRowModel().rows
  const getItemKey = useCallback((index: number) => ordered[index]?.id ?? index, [ordered])
  const estimateSize = useCallback(() => rowHeight, [rowHeight])
  const virtual = useVirtualizer({
    count: ordered.length,
    getScrollElement: () => scrolled.current,
    estimateSize,
    getItemKey,
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

  /** The row that the keyboard moves to, until it is rendered. */
  const goingTo = useRef<number>(undefined)
  useLayoutEffect(() => {
    if (goingTo.current === undefined) return
    const row = scrolled.current?.querySelector<HTMLElement>(`tr[data-index="${goingTo.current}"]`)
    if (!row) return
    goingTo.current = undefined
    row.focus({ preventScroll: true })
  })
  const count = ordered.length
  const { scrollToIndex } = virtual
  const goTo = useCallback(
    (index: number) => {
      const next = Math.max(0, Math.min(count - 1, index))
      goingTo.current = next
      scrollToIndex(next)
      // If the row is rendered already, nothing else makes the table focus it.
      const row = scrolled.current?.querySelector<HTMLElement>(`tr[data-index="${next}"]`)
      if (!row) return
      goingTo.current = undefined
      row.focus({ preventScroll: true })
    },
    [count, scrollToIndex],
  )
  // Pages pass a new function in each render, which must not re-render the rows.
  const lastOnOpen = useRef(onOpen)
  useLayoutEffect(() => {
    lastOnOpen.current = onOpen
  })
  const openRow = useCallback((row: Row) => lastOnOpen.current?.(row), [])
  const visibleIds = visible.map(({ id }) => id).join()
  const openIndex = openId === undefined ? -1 : items.findIndex(({ index }) => ordered[index]?.id === openId)
  const tabStop = items[Math.max(0, openIndex)]?.index ?? 0

  return (
    <Box
      ref={scrolled}
      className={styles.frame}
      style={{ maxHeight: maxHeight ?? fillHeight }}
      tabIndex={onOpen ? undefined : 0}
      role="group"
      aria-label={label}
    >
      <table
        className={styles.table}
        style={{ minWidth: table.getTotalSize() }}
        aria-rowcount={more?.available ? -1 : ordered.length + 1}
        aria-label={label}
      >
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
            return (
              <BodyRow
                key={row.id}
                row={row}
                columns={columns}
                index={index}
                height={rowHeight}
                visibleIds={visibleIds}
                isOpen={row.id === openId}
                isTabStop={index === tabStop}
                onOpen={onOpen && openRow}
                goTo={goTo}
              />
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
      {more?.failed && !more.loading && (
        <Box className={styles.end} role="alert">
          <Text size="sm">Could not load the next rows.</Text>
          <Button size="compact-sm" variant="default" onClick={more.load}>
            Try again
          </Button>
        </Box>
      )}
    </Box>
  )
}

interface BodyRowProps<Row extends object> {
  row: TableRow<Features, Row>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  columns: readonly ColumnDef<Features, Row, any>[]
  index: number
  height: number
  /** The visible columns: a change re-renders the rows. */
  visibleIds: string
  isOpen: boolean
  /** True for the one row that Tab reaches; arrow keys reach the others. */
  isTabStop: boolean
  onOpen: ((row: Row) => void) | undefined
  goTo(index: number): void
}

/** A row. Scrolling renders only rows that come into view. */
const BodyRow = memo(function BodyRow<Row extends object>(props: BodyRowProps<Row>) {
  const { row, index, height, isOpen, isTabStop, onOpen, goTo } = props

  function onKeyDown(event: KeyboardEvent<HTMLTableRowElement>) {
    if (event.target !== event.currentTarget || event.altKey || event.ctrlKey || event.metaKey) return
    const steps: Record<string, number> = {
      ...{ ArrowDown: index + 1, ArrowUp: index - 1, PageDown: index + 10, PageUp: index - 10 },
      ...{ Home: 0, End: Number.MAX_SAFE_INTEGER, j: index + 1, k: index - 1 },
    }
    const next = steps[event.key]
    if (next !== undefined) goTo(next)
    else if (event.key === 'Enter' || event.key === ' ' || event.key === 'o') onOpen?.(row.original)
    else return
    event.preventDefault()
  }

  const open = onOpen && {
    tabIndex: isTabStop ? 0 : -1,
    onClick: (event: MouseEvent<HTMLTableRowElement>) => {
      if (!(event.target as Element).closest('a, button, input, label')) onOpen(row.original)
    },
    onKeyDown,
  }
  return (
    <tr
      data-index={index}
      aria-rowindex={index + 2}
      aria-current={isOpen ? 'true' : undefined}
      className={onOpen ? styles.opens : undefined}
      style={{ height }}
      {...open}
    >
      {row.getVisibleCells().map((cell) => (
        <td key={cell.id} className={cell.column.columnDef.meta?.align === 'right' ? styles.right : undefined}>
          <FlexRender cell={cell} />
        </td>
      ))}
    </tr>
  )
}, isDrawnAlready) as <Row extends object>(props: BodyRowProps<Row>) => React.ReactNode

/** Returns true if a row would render the same. The table creates rows again whenever more arrive. */
function isDrawnAlready<Row extends object>(drawn: BodyRowProps<Row>, now: BodyRowProps<Row>): boolean {
  const names = Object.keys(now) as (keyof BodyRowProps<Row>)[]
  return names.every((name) => (name === 'row' ? drawn.row.original === now.row.original : drawn[name] === now[name]))
}
