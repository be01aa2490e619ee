import { Box, Button, Group, Stack } from '@mantine/core'
import { IconChartHistogram } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { apiBaseUrl } from '../../api/api-base-url.ts'
import { api } from '../../api/api-client.ts'
import { type Me, useMe } from '../../api/me.ts'
import { pollEvery } from '../../components/polling.ts'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatTime } from '../../ui/time-text.tsx'
import { useDemo } from './demo/demo-load.ts'
import { DemoButton, DemoDescription } from './demo/demo-offer.tsx'
import type { SearchState } from './use-search-state.ts'

const QuickStart = lazy(() => import('../../components/quick-start/quick-start.tsx'))

interface StoredEvent {
  created_at: string
  /** Absent for purged records. */
  ts?: string
}

interface NoTelemetryProps extends Pick<SearchState, 'filters' | 'isLive' | 'change'> {
  /** Called if the tenant has no events at all. */
  onNone(): void
}

/** Shows for a range without events whether any events exist, and how to send some. */
export default function NoTelemetry({ filters, isLive, change, onNone }: NoTelemetryProps) {
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
        return event ? <NotInRange event={event} filters={filters} change={change} /> : <NoneAtAll onShown={onNone} />
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

function NoneAtAll({ onShown }: { onShown(): void }) {
  const me = useMe()
  useEffect(onShown, [onShown])
  const { isOffered } = useDemo()
  return (
    <>
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
          ? 'Each invocation of a skill sends an event: by a connector of your AI platform, by OpenTelemetry, or by a call of POST /api/v1/telemetry/events. Send one with a snippet below, and it appears here within seconds.'
          : 'Each invocation of a skill sends an event. An administrator of the tenant connects the AI platforms that send them; the first one appears here within seconds.'}
      </EmptyState>
      {mayConnect(me) && (
        <Box maw={860} mx="auto">
          <Suspense fallback={null}>
            <QuickStart />
          </Suspense>
        </Box>
      )}
    </>
  )
}

/** Returns true if the user may see what the snippets name. */
const mayConnect = ({ may }: Me) => may('createServiceAccount') && may('listSkills') && may('listArchetypes')
