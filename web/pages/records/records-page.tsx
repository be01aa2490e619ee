import { Box, Flex, Stack } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { Help } from '../../components/help.tsx'
import { SavedViews } from '../../components/saved-views.tsx'
import { viewQuery } from '../../components/view-query.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { FilterBar } from './filter-bar.tsx'
import { FilterChips } from './filter-chips.tsx'
import { PresetsMenu } from './presets-menu.tsx'
import { withoutFilters } from './record-query.ts'
import { RecordsList } from './records-list.tsx'
import type { RecordsSearch } from './records-search.ts'
import { SearchBox } from './search-box.tsx'
import { Shortcuts } from './shortcuts.tsx'

const EventFacets = lazy(() => import('./event-facets.tsx').then((module) => ({ default: module.EventFacets })))
const SearchResults = lazy(() => import('./search-results.tsx').then((module) => ({ default: module.SearchResults })))

const route = getRouteApi('/records')

export default function RecordsPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/records' })
  const [now, setNow] = useState(() => new Date())
  const filters = viewQuery({ ...search, open: undefined, view: undefined })
  const change = (changed: Partial<RecordsSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  const open = (recordId: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, open: recordId }), replace: search.open !== undefined })
  return (
    <>
      <PageHeader
        title="Records"
        help={<Help term="Record" />}
        about="Outputs, decisions, artifacts and events of people and skills. Records are immutable. Altered records are marked red."
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
            <Shortcuts />
          </>
        }
      />
      <Stack gap="sm">
        <SearchBox search={search} onChange={change} />
        <FilterBar key={search.view} search={search} onChange={change} />
        <FilterChips
          search={search}
          onRemove={(name) => change({ [name]: undefined })}
          onClear={() => change(withoutFilters(search))}
        />
        <Flex direction={{ base: 'column', xl: 'row' }} gap="sm">
          <Suspense fallback={<Box w={{ xl: 224 }} flex="none" />}>
            <EventFacets search={search} now={now} onChange={change} />
          </Suspense>
          <Box miw={0} flex={1}>
            {search.q ? (
              <Suspense fallback={null}>
                <SearchResults search={{ ...search, q: search.q }} now={now} onOpen={open} />
              </Suspense>
            ) : (
              <RecordsList
                search={search}
                now={now}
                onChange={change}
                onOpen={open}
                onRefresh={() => setNow(new Date())}
              />
            )}
          </Box>
        </Flex>
      </Stack>
    </>
  )
}
