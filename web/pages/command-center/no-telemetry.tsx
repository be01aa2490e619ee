import { Button, Group } from '@mantine/core'
import { IconChartHistogram } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { apiAddress } from '../../api/address.ts'
import { api } from '../../api/hub.ts'
import { useMe } from '../../api/me.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatTime } from '../../ui/time-text.tsx'
import type { Center } from './use-center.ts'

/** Where a range has no events: whether there are any at all, and how to come to some. */
export function NoTelemetry({ filters, change }: Pick<Center, 'filters' | 'change'>) {
  const me = useMe()
  const newest = api.useQuery(
    'get',
    '/api/v1/hub/records',
    { params: { query: { record_type: 'telemetry_event', sort: '-created_at', limit: 1 } } },
    { refetchInterval: 5000 },
  )
  const event = newest.data?.records[0] as { ts?: string; created_at: string } | undefined
  if (!newest.data) return null
  if (event) {
    const isFiltered = Object.keys(filters).length > 0
    return (
      <EmptyState
        title="No events in this range"
        icon={IconChartHistogram}
        action={
          <Button onClick={() => change({ range: '90d', from: undefined, to: undefined })}>
            Show the last 90 days
          </Button>
        }
      >
        {`The newest event stored is of ${formatTime(event.ts ?? event.created_at)}.${isFiltered ? ' The filters may leave it out.' : ''}`}
      </EmptyState>
    )
  }
  return (
    <EmptyState
      title="No telemetry yet"
      icon={IconChartHistogram}
      action={
        <Group justify="center">
          {me.role === 'admin' && (
            <Button component={Link} to="/onboarding">
              To the onboarding checklist
            </Button>
          )}
          <Button component="a" href={`${apiAddress}/reference`} variant="default">
            How events are sent
          </Button>
        </Group>
      }
    >
      {me.role === 'admin'
        ? 'Each invocation of a skill sends an event: by a connector of your AI platform, by the plugin, or by a call of POST /api/v1/telemetry/events. Connect a platform, and the first event appears here within seconds.'
        : 'Each invocation of a skill sends an event. An administrator of the tenant connects the AI platforms that send them; the first one appears here within seconds.'}
    </EmptyState>
  )
}
