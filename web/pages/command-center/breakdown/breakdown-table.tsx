import { Text } from '@mantine/core'
import { useMemo } from 'react'
import { QueryBoundary, SkeletonLines } from '../../../components/query-boundary.tsx'
import { DataTable } from '../../../ui/data-table.tsx'
import { NoEvents } from '../no-events.tsx'
import type { SearchState } from '../use-search-state.ts'
import { type BreakdownRow, breakdownColumns, breakdownWidths } from './breakdown-rows.tsx'
import { dimensionOf, nextDimension } from './dimensions.ts'
import type { useBreakdown } from './use-breakdown.ts'

const height = 'max(16rem, 60dvh)'
const none: BreakdownRow[] = []

interface BreakdownTableProps extends SearchState {
  keys: ReturnType<typeof useBreakdown>
  narrow: SearchState['change']
}

/** Shows a table whose rows drill down: a row becomes a filter, and the next dimension is shown. */
export function BreakdownTable({ search, filters, group, change, keys, narrow }: BreakdownTableProps) {
  const { now, rows = none, sort } = keys
  const { label, plural, field } = dimensionOf(group)
  const { invocations, latency, computed, estimate } = useMemo(() => breakdownWidths(rows), [rows])
  const columns = useMemo(
    () => breakdownColumns(group, { invocations, latency, computed, estimate }),
    [group, invocations, latency, computed, estimate],
  )

  function drillDown({ key }: BreakdownRow) {
    if (key === undefined) return
    narrow({ [field]: key, group_by: nextDimension({ ...filters, [field]: key }, group) })
  }

  return (
    <QueryBoundary query={now} what={plural.toLowerCase()} skeleton={<SkeletonLines lines={8} height={40} />}>
      {({ complete }) =>
        rows.length === 0 ? (
          <NoEvents />
        ) : (
          <>
            {!complete && (
              <Text size="sm" c="dimmed" mb="xs">
                {`There are more: these are the first ${rows.length} by name. Set a filter to see the rest.`}
              </Text>
            )}
            <Text size="xs" c="dimmed" mb="xs">
              Choose a row to filter the page by it; the next dimension follows. A name opens its own page.
            </Text>
            <DataTable
              label={`Figures by ${label.toLowerCase()}`}
              columns={columns}
              rows={rows}
              rowId={(row) => row.key ?? ''}
              onOpen={drillDown}
              sort={sort}
              onSort={({ id, desc }) => change({ sort: id as typeof search.sort, order: desc ? 'desc' : 'asc' })}
              maxHeight={height}
            />
          </>
        )
      }
    </QueryBoundary>
  )
}
