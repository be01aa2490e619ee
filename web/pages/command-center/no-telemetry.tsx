import { Button, Group, Stack } from '@mantine/core'
import { IconChartHistogram } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { apiBaseUrl } from '../../api/api-base-url.ts'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatTime } from '../../ui/time-text.tsx'
import { useDemo } from './demo/demo-load.ts'
import { DemoButton, DemoDescription } from './demo/demo-offer.tsx'
import { pollEvery } from './polling.ts'
import type { SearchState } from './use-search-state.ts'

interface StoredEvent {
  created_at: string
  /** Absent for purged records. */
  ts?: string
}

/** Shows for a range without events whether any events exist, and how to send some. */
export default function NoTelemetry({ filters, isLive, change }: SearchState) {
  const newest = api.useQuery(
    'get',
    '/api/v1/hub/records',
    { params: { query: { record_type: 'telemetry_event', sort: '-created_at', limit: 1 } } },
    pollEvery(5000, isLive),
  )
  return (
    <QueryBoundary query={newest} what="newest events" skeleton={<SkeletonLines lines={3} />}>
      {({ records }) => {
        const event = records[0] as StoredEvent | undefined
        return event ? <NotInRange event={event} filters={filters} change={change} /> : <NoneAtAll />
      }}
    </QueryBoundary>
  )
}

function NotInRange({ event, filters, change }: Pick<SearchState, 'filters' | 'change'> & { event: StoredEvent }) {
  const isFiltered = Object.keys(filters).length > 0
  return (
    <EmptyState
      title="No events in this range"
      icon={IconChartHistogram}
      action={
        <Button onClick={() => change({ range: '90d', from: undefined, to: undefined })}>Show the last 90 days</Button>
      }
    >
      {`The newest event stored is of ${formatTime(event.ts ?? event.created_at)}.${isFiltered ? ' The filters may leave it out.' : ''}`}
    </EmptyState>
  )
}

function NoneAtAll() {
  const me = useMe()
  const { isOffered } = useDemo()
  return (
    <EmptyState
      title="No telemetry yet"
      icon={IconChartHistogram}
      action={
        <Stack align="center">
          <Group justify="center">
            <DemoButton />
            {me.role === 'admin' && (
              <Button component={Link} to="/onboarding" variant={isOffered ? 'default' : 'filled'}>
                To the onboarding checklist
              </Button>
            )}
            <Button component="a" href={`${apiBaseUrl}/reference`} variant="default">
              How events are sent
            </Button>
          </Group>
          <DemoDescription />
        </Stack>
      }
    >
      {me.role === 'admin'
        ? 'Each invocation of a skill sends an event: by a connector of your AI platform, by the plugin, or by a call of POST /api/v1/telemetry/events. Connect a platform, and the first event appears here within seconds.'
        : 'Each invocation of a skill sends an event. An administrator of the tenant connects the AI platforms that send them; the first one appears here within seconds.'}
    </EmptyState>
  )
}
