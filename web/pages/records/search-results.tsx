import { Group, Stack, Text } from '@mantine/core'
import { IconSearchOff } from '@tabler/icons-react'
import { useMemo } from 'react'
import { type ApiResponse, api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { ActorName } from '../../components/actor-name.tsx'
import { cursorOptions, moreOf } from '../../components/cursor-pagination.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { causeOf } from '../../components/record-actor.ts'
import { RecordTypeBadge, titleOfRecord } from '../../components/record-type.tsx'
import { SnippetText } from '../../components/snippet-text.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { nameOfFilter } from './filter-labels.ts'
import { RecordDrawer } from './record-drawer.tsx'
import { activeFilters, exportOf, isOfSearch, searchQueryOf } from './record-query.ts'
import type { RecordsSearch } from './records-search.ts'

type Result = ApiResponse<'searchRecords'>['results'][number]

const column = columnsOf<Result>()
const columns = column.columns([
  column.accessor(({ record }) => record.record_type, {
    id: 'type',
    header: 'Type',
    size: 140,
    enableSorting: false,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <RecordTypeBadge type={getValue()} isShort />,
  }),
  column.accessor(({ record }) => titleOfRecord(record), {
    id: 'match',
    header: 'Match',
    size: 220,
    enableSorting: false,
    meta: { grow: true },
    cell: ({ row: { original }, getValue }) => <Match result={original} title={getValue()} />,
  }),
  column.accessor(({ record }) => causeOf(record), {
    id: 'who',
    header: 'Created by',
    size: 170,
    enableSorting: false,
    meta: { from: 'md' },
    cell: ({ getValue }) => <ActorName id={getValue()} short />,
  }),
  column.accessor(({ record }) => record.created_at, {
    id: 'created',
    header: 'Created',
    size: 190,
    enableSorting: false,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <TimeText iso={getValue()} />,
  }),
])

function Match({ result: { record, snippet }, title }: { result: Result; title: string }) {
  return (
    <>
      <Text size="sm" fw={600} truncate>
        {record.is_purged ? `${title} (purged)` : title}
      </Text>
      <Text size="xs" c="dimmed" lineClamp={2} style={{ whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
        <SnippetText snippet={snippet} />
      </Text>
    </>
  )
}

const looseMatches = {
  forms: { title: 'No record has exactly these words', text: 'The results have other forms of them.' },
  some: {
    title: 'No record has all of these words',
    text: 'The results have some of them, or other forms of them. Quotes find only the words as written.',
  },
}

interface SearchResultsProps {
  search: RecordsSearch & { q: string }
  /** The time at which the search began, for relative ranges. */
  now: Date
  onOpen(recordId: string | undefined): void
}

/** Shows the records that the full-text search finds, best first. */
export function SearchResults({ search, now, onOpen }: SearchResultsProps) {
  const me = useMe()
  const query = searchQueryOf(search, now)
  const found = api.useInfiniteQuery(
    'get',
    '/api/v1/hub/search',
    { params: { query } },
    { ...cursorOptions, retry: 1, refetchOnReconnect: false },
  )
  const results = useMemo(() => found.data?.pages.flatMap((page) => page.results) ?? [], [found.data])
  const rows = useMemo(() => results.map(({ record }) => record), [results])
  const { match, truncated, partial } = found.data?.pages[0] ?? {}
  const loosened = match !== undefined && match !== 'all' ? looseMatches[match] : undefined
  const unused = activeFilters(search).filter(({ name }) => !isOfSearch(name))
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed" role="status">
          {found.data &&
            `${formatCount(results.length)} found${found.hasNextPage ? ', more below' : results.length > 0 ? ', that is all' : ''}`}
        </Text>
        <Group gap="sm">
          <Text size="sm" c="dimmed">
            Best match first. Telemetry events are not searched.
          </Text>
          {me.may('createExport') && results.length > 0 && (
            <LinkButton to="/exports" search={exportOf(query)}>
              Export these results
            </LinkButton>
          )}
        </Group>
      </Group>
      {unused.length > 0 && (
        <Notice kind="warning" title="Not all filters apply to a search">
          {`Not used: ${unused.map(({ name }) => nameOfFilter(name)).join(', ')}. A search takes type, skill, time of creation and purged records.`}
        </Notice>
      )}
      {loosened && (
        <Notice kind="info" title={loosened.title}>
          {loosened.text}
        </Notice>
      )}
      {truncated && (
        <Notice kind="warning" title="More records match than a search ranks">
          Only the newest matches are listed. Use rarer words, or narrow the search by type, skill or time of creation.
        </Notice>
      )}
      {partial && (
        <Notice kind="info" title="Encrypted content is not searched">
          This tenant encrypts its content (Mode B). Only members that are stored in clear are searched, such as ids and
          names.
        </Notice>
      )}
      <QueryBoundary query={found} what="search results" skeleton={<SkeletonLines lines={6} height={76} />}>
        {() =>
          results.length === 0 ? (
            <EmptyState title="No record has these words" icon={IconSearchOff}>
              Try fewer or other words. Quotes find a phrase, a minus excludes a word, and “or” separates alternatives.
            </EmptyState>
          ) : (
            <DataTable<Result>
              label="Search results"
              rows={results}
              columns={columns}
              rowId={({ record }) => record.record_id}
              rowHeight={72}
              onOpen={({ record }) => onOpen(record.record_id)}
              openId={search.open}
              more={moreOf(found)}
            />
          )
        }
      </QueryBoundary>
      <RecordDrawer openId={search.open} rows={rows} onOpen={onOpen} />
    </Stack>
  )
}
