import { Group, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { api } from '../../api/api-client.ts'
import type { HubRecord } from '../../api/hub-record.ts'
import { cursorOptions } from '../../components/cursor-pagination.ts'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { viewQuery } from '../../components/view-query.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { formatCount } from '../../ui/formats.ts'
import { readFirstPageAgain } from '../record/use-record.ts'
import { RowVerdictsContext, recordColumns } from './columns.tsx'
import { useColumns, useDensity } from './columns-menu.tsx'
import { EmptyResult } from './empty-result.tsx'
import { RecordDrawer } from './record-drawer.tsx'
import { fitsSearch, hasEventFilter, parametersOf, queryOf, usualSort } from './record-query.ts'
import type { RecordsSearch, sorts } from './records-search.ts'
import { RecordsToolbar } from './records-toolbar.tsx'
import { rowIdsOf } from './row-ids.ts'
import { RowVerificationNotice } from './row-verification-notice.tsx'
import { useRowVerification } from './use-row-verification.ts'

interface RecordsListProps {
  search: RecordsSearch
  /** The time at which the table was read. */
  now: Date
  onChange(changed: Partial<RecordsSearch>): void
  onOpen(recordId: string | undefined): void
  /** Sets that time to now. */
  onRefresh(): void
}

/**
 * Shows the found records and the actions on all of them. It renders again with each page and during verification; the
 * filters above do not.
 */
export function RecordsList({ search, now, onChange, onOpen, onRefresh }: RecordsListProps) {
  const { setShown, hidden, ...columns } = useColumns(search.record_type === 'telemetry_event' ? 'events' : 'records')
  const { isCompact, setCompact, rowHeight } = useDensity()
  const filters = viewQuery({ ...search, open: undefined, view: undefined })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is open changes nothing of the query
  const query = useMemo(() => queryOf(search, now), [filters, now])
  const records = api.useInfiniteQuery(
    'get',
    '/api/v1/hub/records',
    { params: { query } },
    {
      ...cursorOptions,
      // Rows are verified as received: merging them with others could hide rows that a dishonest Hub inserted.
      structuralSharing: false,
      // A refetch would read every loaded page. There is a button for it.
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
    },
  )
  const rows = useMemo(() => records.data?.pages.flatMap((page) => page.records) ?? [], [records.data])
  const rowId = useMemo(() => rowIdsOf(rows), [rows])
  const verification = useRowVerification(`${filters} ${now.getTime()}`)
  const { fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError } = records
  const more = useMemo(
    () => ({
      available: hasNextPage,
      loading: isFetchingNextPage,
      failed: isFetchNextPageError,
      load: () => void fetchNextPage(),
    }),
    [fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError],
  )
  const sort = search.sort ?? usualSort
  const hiddenColumns = useMemo(
    () => [...hidden, ...(verification.asked === undefined ? ['verdict'] : []), ...(search.verify ? [] : ['server'])],
    [hidden, verification.asked, search.verify],
  )

  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" c="dimmed" role="status">
          {records.data &&
            `${formatCount(rows.length)} loaded${hasNextPage ? ', more below' : rows.length > 0 ? ', that is all' : ''}`}
          {sort.includes('cost') && '; only records with a cost'}
        </Text>
        <RecordsToolbar
          columns={{ ...columns, onChange: setShown, isCompact, onCompact: setCompact }}
          verification={{
            available: rows.length > 0,
            running: verification.running,
            start: () => verification.start(rows, fitsSearch(search, now)),
          }}
          refresh={{
            running: records.isRefetching && !isFetchingNextPage,
            start: () => {
              onRefresh()
              if (!search.within) void readFirstPageAgain()
            },
          }}
          exported={
            hasEventFilter(search) ? undefined : { create: '1', ...Object.fromEntries(parametersOf(search, now)) }
          }
        />
      </Group>
      <RowVerificationNotice verification={verification} rows={rows} />
      <QueryBoundary query={records} what="records" skeleton={<SkeletonLines lines={10} />}>
        {() =>
          rows.length === 0 ? (
            <EmptyResult search={search} onChange={onChange} />
          ) : (
            <RowVerdictsContext value={verification.verdicts}>
              <DataTable<HubRecord>
                label="Records"
                rows={rows}
                columns={recordColumns}
                rowId={rowId}
                hiddenColumns={hiddenColumns}
                onOpen={({ record_id }) => onOpen(record_id)}
                openId={search.open}
                {...(rowHeight && { rowHeight })}
                sort={{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }}
                onSort={({ id, desc }) => {
                  const chosen = `${desc ? '-' : ''}${id}` as (typeof sorts)[number]
                  onChange({ sort: chosen === usualSort ? undefined : chosen })
                }}
                more={more}
              />
            </RowVerdictsContext>
          )
        }
      </QueryBoundary>
      <RecordDrawer openId={search.open} rows={rows} onOpen={onOpen} />
    </Stack>
  )
}
