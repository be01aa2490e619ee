import { Button, Group, Text } from '@mantine/core'
import { IconDownload, IconFilterOff } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useMe } from '../../api/me.ts'
import { Help } from '../../components/help.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { SavedViews } from '../../components/saved-views.tsx'
import { viewQuery } from '../../components/view-query.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount } from '../../ui/formats.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { formatTime } from '../../ui/time-text.tsx'
import { EventDrawer } from './event-details.tsx'
import { EventFilters } from './event-filters.tsx'
import type { EventsSearch } from './events-search.ts'
import { EventsTable } from './events-table.tsx'
import type { GovernanceEvent } from './governance-event.ts'
import { useEvents } from './use-events.ts'

const route = getRouteApi('/governance')

export default function EventsPage() {
  const me = useMe()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { event: openId, view, ...filters } = search
  const go = (change: EventsSearch) =>
    void navigate({ search: (before: EventsSearch) => ({ ...before, ...change }), replace: true })

  return (
    <>
      <PageHeader
        title="Governance events"
        help={<Help term="Governance event" />}
        about="Who did what, and what the Hub did by itself: each event is a record with provenance of its own."
        actions={
          <>
            <SavedViews
              page="governance"
              query={viewQuery(search)}
              viewId={view}
              onChoose={(chosen) =>
                void navigate({
                  search: chosen
                    ? { ...Object.fromEntries(new URLSearchParams(chosen.query)), view: chosen.view_id }
                    : {},
                })
              }
            />
            {me.may('createExport') && (
              <LinkButton
                leftSection={<IconDownload size={16} />}
                to="/exports"
                search={{
                  create: '1',
                  record_type: 'governance_event',
                  event_kind: filters.event_kind,
                  created_at__gte: filters.created_at__gte,
                  created_at__lt: filters.created_at__lt,
                }}
              >
                Export
              </LinkButton>
            )}
          </>
        }
      />
      <EventFilters filters={filters} onChange={go} />
      <Events search={search} openId={openId} onOpen={(event) => go({ event })} />
    </>
  )
}

interface EventsProps {
  search: EventsSearch
  openId: string | undefined
  onOpen(id: string | undefined): void
}

function Events({ search, openId, onOpen }: EventsProps) {
  const { event_kind, created_at__gte, created_at__lt, subject, actor } = search
  const isLookedThrough = Boolean(subject || actor)
  const { query, events, more } = useEvents(
    { event_kind, created_at__gte, created_at__lt },
    isLookedThrough ? 1000 : 100,
  )
  const found = events.filter((event) => matches(event, subject, actor))
  return (
    <QueryBoundary query={query} what="governance events">
      {() => (
        <>
          {isLookedThrough && (
            <Group gap="sm" mb="xs" role="status">
              <Text size="sm">
                {formatCount(found.length)} of the newest {formatCount(events.length)} events match
                {events.length > 0 && `, back to ${formatTime(events.at(-1)?.created_at ?? '')}`}.
              </Text>
              {more.available && (
                <Button size="compact-sm" variant="default" loading={more.loading} onClick={more.load}>
                  Load older events
                </Button>
              )}
            </Group>
          )}
          {found.length === 0 ? (
            <EmptyState title="No events match" icon={IconFilterOff}>
              {isLookedThrough && more.available
                ? 'None so far. Load older events, or change the filter.'
                : 'Nothing of this kind happened in this time. Change or clear the filter.'}
            </EmptyState>
          ) : (
            <EventsTable
              events={found}
              openId={openId}
              onOpen={({ record_id }) => onOpen(record_id)}
              more={isLookedThrough ? undefined : more}
            />
          )}
          <EventDrawer eventId={openId} events={events} onClose={() => onOpen(undefined)} />
        </>
      )}
    </QueryBoundary>
  )
}

function matches(event: GovernanceEvent, subject: string | undefined, actor: string | undefined): boolean {
  const has = (text: string | undefined, part: string | undefined) =>
    !part || (text?.toLowerCase().includes(part.trim().toLowerCase()) ?? false)
  return has(event.subject, subject) && has(event.actor, actor)
}
