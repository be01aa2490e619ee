import { Button, Group, Stack, Text } from '@mantine/core'
import { IconDownload, IconRefresh, IconShieldCheck } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { api } from '../../api/hub.ts'
import { useMe } from '../../api/me.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { Loaded, SkeletonLines } from '../../components/loaded.tsx'
import { SavedViews } from '../../components/saved-views.tsx'
import { viewQuery } from '../../components/view-query.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { formatCount } from '../../ui/formats.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { readFirstPageAgain } from '../record/use-record.ts'
import { type HubRecord, RowVerdicts, recordColumns } from './columns.tsx'
import { ColumnsMenu, useColumns } from './columns-menu.tsx'
import { FilterBar } from './filter-bar.tsx'
import { FilterChips } from './filter-chips.tsx'
import { NothingFound } from './nothing-found.tsx'
import { PresetsMenu } from './presets-menu.tsx'
import { RecordDrawer } from './record-drawer.tsx'
import { fitsSearch, parametersOf, queryOf, usualSort, withoutFilters } from './record-query.ts'
import type { RecordsSearch, sorts } from './records-search.ts'
import { RowVerificationNotice } from './row-verification-notice.tsx'
import { useRowVerification } from './use-row-verification.ts'

const route = getRouteApi('/records')

export default function RecordsPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/records' })
  const me = useMe()
  const [now, setNow] = useState(() => new Date())
  const { shown, setShown, hidden } = useColumns()
  const filters = viewQuery({ ...search, open: undefined, view: undefined })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is open changes nothing of the query
  const query = useMemo(() => queryOf(search, now), [filters, now])
  const records = api.useInfiniteQuery(
    'get',
    '/api/v1/hub/records',
    { params: { query } },
    {
      pageParamName: 'cursor',
      initialPageParam: null,
      getNextPageParam: ({ next_cursor }) => next_cursor,
      // It would read every page that is loaded. There is a button for it.
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
    },
  )
  const rows = useMemo(() => records.data?.pages.flatMap((page) => page.records) ?? [], [records.data])
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

  const change = (changed: Partial<RecordsSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  const open = (recordId: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, open: recordId }), replace: search.open !== undefined })
  const sort = search.sort ?? usualSort
  const hiddenColumns = useMemo(
    () => [...hidden, ...(verification.asked === undefined ? ['verdict'] : []), ...(search.verify ? [] : ['server'])],
    [hidden, verification.asked, search.verify],
  )

  return (
    <>
      <PageHeader
        title="Records"
        about="What people and skills left behind: outputs, decisions, artifacts, events. Records never change; what changed all the same shows red."
        actions={
          <>
            <PresetsMenu onChoose={(preset) => void navigate({ search: preset })} />
            <SavedViews
              page="records"
              query={filters}
              viewId={search.view}
              onChoose={(view) =>
                void navigate({
                  search: view
                    ? { ...(Object.fromEntries(new URLSearchParams(view.query)) as RecordsSearch), view: view.view_id }
                    : { ...search, view: undefined },
                })
              }
            />
          </>
        }
      />
      <Stack gap="sm">
        <FilterBar key={search.view} search={search} onChange={change} />
        <FilterChips
          search={search}
          onRemove={(name) => change({ [name]: undefined })}
          onClear={() => change(withoutFilters(search))}
        />
        <Group justify="space-between" gap="xs">
          <Text size="sm" c="dimmed" role="status">
            {records.data &&
              `${formatCount(rows.length)} loaded${hasNextPage ? ', more below' : rows.length > 0 ? ', that is all' : ''}`}
            {sort.includes('cost') && '; only records with a cost'}
          </Text>
          <Group gap="xs">
            <Button
              variant="default"
              leftSection={<IconShieldCheck size={16} aria-hidden />}
              disabled={rows.length === 0}
              loading={verification.running}
              onClick={() => verification.start(rows, fitsSearch(search, now))}
            >
              Verify all on this page
            </Button>
            {me.may('createExport') && (
              <LinkButton
                to="/exports"
                search={{ create: '1', ...Object.fromEntries(parametersOf(search, now)) } as never}
                leftSection={<IconDownload size={16} aria-hidden />}
              >
                Export
              </LinkButton>
            )}
            <ColumnsMenu shown={shown} onChange={setShown} />
            <Button
              variant="default"
              leftSection={<IconRefresh size={16} aria-hidden />}
              loading={records.isRefetching && !isFetchingNextPage}
              onClick={() => {
                setNow(new Date())
                if (!search.within) void readFirstPageAgain()
              }}
            >
              Refresh
            </Button>
          </Group>
        </Group>
        <RowVerificationNotice verification={verification} rows={rows} />
        <Loaded query={records} what="records" skeleton={<SkeletonLines lines={10} />}>
          {() =>
            rows.length === 0 ? (
              <NothingFound search={search} onChange={change} />
            ) : (
              <RowVerdicts.Provider value={verification.verdicts}>
                <DataTable<HubRecord>
                  label="Records"
                  rows={rows}
                  columns={recordColumns}
                  rowId={recordIdOf}
                  hiddenColumns={hiddenColumns}
                  onOpen={({ record_id }) => open(record_id)}
                  openId={search.open}
                  sort={{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }}
                  onSort={({ id, desc }) => {
                    const chosen = `${desc ? '-' : ''}${id}` as (typeof sorts)[number]
                    change({ sort: chosen === usualSort ? undefined : chosen })
                  }}
                  more={more}
                />
              </RowVerdicts.Provider>
            )
          }
        </Loaded>
      </Stack>
      <RecordDrawer openId={search.open} rows={rows} onOpen={open} />
    </>
  )
}

function recordIdOf({ record_id }: HubRecord): string {
  return record_id
}
