import { Button, Select, SimpleGrid, Stack, Text, useMatches } from '@mantine/core'
import { IconTimeline } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { api } from '../../api/api-client.ts'
import { cursorOptions, moreOf } from '../../components/cursor-pagination.ts'
import { useSuggestions } from '../../components/filter-suggestions.ts'
import { FilterText } from '../../components/filter-text.tsx'
import { Help } from '../../components/help.tsx'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { FoldedFilters } from '../../ui/folded-filters.tsx'
import { formatCount } from '../../ui/formats.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { rangeNames } from '../records/filter-labels.ts'
import { filterOf } from '../records/record-query.ts'
import { ranges } from '../records/records-search.ts'
import { sessionColumns, sessionRow } from './session-columns.tsx'
import type { SessionsSearch } from './sessions-search.ts'

const route = getRouteApi('/sessions')

/** Lists conversations and runs of agents, by their newest event. */
export default function SessionsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changed: SessionsSearch) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  return (
    <>
      <PageHeader
        title="Sessions"
        help={<Help term="Session (telemetry)" label="Session" />}
        about="Conversations and runs of agents: events with the same session id, the latest first. Open one to see its steps."
      />
      <Stack gap="sm">
        <Filters search={search} onChange={change} />
        <SessionList search={search} onClear={() => void navigate({ search: {}, replace: true })} />
      </Stack>
    </>
  )
}

interface FiltersProps {
  search: SessionsSearch
  onChange(changed: SessionsSearch): void
}

function Filters({ search, onChange }: FiltersProps) {
  const [wanted, setWanted] = useState(false)
  const suggestions = useSuggestions(wanted)
  const text = (name: 'skill_id' | 'archetype_id' | 'user_id', label: string, placeholder: string) => (
    <FilterText
      {...{ label, placeholder, value: search[name], suggestions: suggestions[name], suggested: name }}
      onFocus={() => setWanted(true)}
      onChoose={(value) => onChange({ [name]: value })}
    />
  )
  return (
    <search aria-label="Filters">
      <FoldedFilters set={Object.values(search).filter(Boolean).length}>
        <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm" verticalSpacing="xs">
          {text('skill_id', 'Skill', 'Any skill')}
          {text('archetype_id', 'Archetype', 'Any archetype')}
          {text('user_id', 'User', 'Any user')}
          <Select
            label="Last event"
            placeholder="Any time"
            data={ranges.map((value) => ({ value, label: rangeNames[value] }))}
            value={search.within ?? null}
            onChange={(value) =>
              onChange({ within: value ?? undefined, created_at__gte: undefined, created_at__lt: undefined })
            }
            clearable
          />
        </SimpleGrid>
      </FoldedFilters>
    </search>
  )
}

function SessionList({ search, onClear }: { search: SessionsSearch; onClear(): void }) {
  const now = useMemo(() => new Date(), [])
  const rowHeight = useMatches(sessionRow, { getInitialValueInEffect: false })
  const { skill_id, archetype_id, user_id, created_at__gte, created_at__lt } = filterOf(search, now)
  const filters = { skill_id, archetype_id, user_id, created_at__gte, created_at__lt }
  const set = Object.entries(filters).filter(([, value]) => value !== undefined)
  const query = { limit: 50, ...(Object.fromEntries(set) as { [Name in keyof typeof filters]?: string }) }
  const sessions = api.useInfiniteQuery('get', '/api/v1/hub/sessions', { params: { query } }, cursorOptions)
  const rows = useMemo(() => sessions.data?.pages.flatMap(({ items }) => items) ?? [], [sessions.data])
  // The Hub reads a bounded number of events for a page, so a page can be empty before the last one.
  const wasEmpty = sessions.data?.pages.at(-1)?.items.length === 0
  const { hasNextPage } = sessions
  const more = moreOf(sessions)
  const older = wasEmpty && hasNextPage && (
    <Button variant="default" loading={sessions.isFetchingNextPage} onClick={more.load}>
      Search older events
    </Button>
  )
  return (
    <>
      <Text size="sm" c="dimmed" role="status">
        {sessions.data &&
          `${formatCount(rows.length)} loaded${hasNextPage ? ', more below' : rows.length > 0 ? ', that is all' : ''}`}
      </Text>
      <QueryBoundary query={sessions} what="sessions" skeleton={<SkeletonLines lines={10} />}>
        {() =>
          rows.length > 0 ? (
            <Stack gap="sm">
              <DataTable
                label="Sessions"
                rows={rows}
                columns={sessionColumns}
                rowId={({ session_id }) => session_id}
                rowHeight={rowHeight}
                more={{ ...more, available: more.available && !wasEmpty }}
              />
              {older}
            </Stack>
          ) : (
            <EmptyState
              title={set.length > 0 || hasNextPage ? 'No sessions found' : 'No sessions yet'}
              icon={IconTimeline}
              action={older || (set.length > 0 && <Button onClick={onClear}>Clear filters</Button>)}
            >
              {hasNextPage
                ? `The newest events have no session${set.length > 0 ? ' with these filters' : ''}.`
                : 'Events with a session_id appear here. OpenTelemetry sends it as session.id or gen_ai.conversation.id.'}
            </EmptyState>
          )
        }
      </QueryBoundary>
    </>
  )
}
