import { Group, Loader, Paper, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { api } from '../../api/api-client.ts'
import type { HubRecord } from '../../api/hub-record.ts'
import { formatMs } from '../../ui/formats.ts'
import { LinkText } from '../link-text.tsx'
import { pollEvery } from '../polling.ts'
import { QueryBoundary } from '../query-boundary.tsx'

const everyMs = 2000

const { refetchInterval } = pollEvery(everyMs, true)
type Polled = Parameters<Exclude<typeof refetchInterval, false>>[0] & { state: { data?: { records: unknown[] } } }

/** Polls until there is an event. Later events would replace the first one. */
const waiting = {
  refetchInterval: (query: Polled) => !query.state.data?.records.length && refetchInterval && refetchInterval(query),
  refetchOnWindowFocus: ({ state }: Polled) => !state.data?.records.length,
}

interface Arrived extends HubRecord {
  /** These are absent for a purged record. */
  skill_id?: string
  user_id?: string
  latency_ms?: number
}

/**
 * Waits for the first event of the tenant, or of a service account, and then shows it.
 *
 * @param clientId the service account whose event is awaited
 */
export default function FirstArrival({ clientId }: { clientId?: string | undefined }) {
  const newest = api.useQuery(
    'get',
    '/api/v1/hub/records',
    {
      params: {
        query: {
          ...{ record_type: 'telemetry_event', sort: '-created_at', limit: 1 },
          ...(clientId && { created_by: clientId }),
        },
      },
    },
    {
      ...waiting,
      select: ({ records }) => records[0] as Arrived | undefined,
      staleTime: 0,
    },
  )
  const { data: event } = newest
  return (
    <Paper withBorder p="sm" role="status" aria-live="polite">
      {event ? (
        <Group gap="xs" align="flex-start" wrap="nowrap">
          <IconCircleCheck size={20} color="var(--mantine-color-seal-text)" aria-hidden />
          <Text size="sm" ta="left">
            <strong>Your first event arrived.</strong> {describeEvent(event)}{' '}
            <LinkText
              to="/records/$recordId"
              params={{ recordId: event.record_id }}
              inherit
              underline="always"
              // The secret of a new account is still shown beside it.
              target={clientId && '_blank'}
            >
              Open the record
            </LinkText>
          </Text>
        </Group>
      ) : newest.error ? (
        <QueryBoundary query={newest} what="the newest event">
          {() => null}
        </QueryBoundary>
      ) : (
        <Group gap="xs">
          <Loader size={14} aria-hidden />
          <Text size="sm">Waiting for your first event…</Text>
        </Group>
      )}
    </Paper>
  )
}

function describeEvent({ skill_id, user_id, latency_ms }: Arrived): string {
  if (skill_id === undefined) return ''
  return `${skill_id} by ${user_id?.replace(/^user:/, '')}, ${formatMs(latency_ms)}.`
}
