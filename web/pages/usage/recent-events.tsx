import { Text } from '@mantine/core'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { type Filters, recordsOf } from '../command-center/breakdown/dimensions.ts'
import { LiveRows } from '../command-center/live-rows.tsx'
import { isoOf, type Span } from '../command-center/ranges.ts'
import type { LiveEvent } from '../command-center/use-live-events.ts'
import { UsageSection } from './usage-section.tsx'

const shown = 10

/** Shows the newest events of the range. */
export function RecentEvents({ filters, range }: { filters: Filters; range: Span }) {
  const { may } = useMe()
  const search = recordsOf(filters, isoOf(range.from), isoOf(range.to))
  const query = { ...search, record_type: 'telemetry_event', sort: '-created_at', limit: shown } as const
  const events = api.useQuery(
    'get',
    '/api/v1/hub/records',
    { params: { query } },
    { enabled: may('queryRecords'), staleTime: 30_000 },
  )
  if (!may('queryRecords')) return null
  return (
    <UsageSection
      title="Recent events"
      more={
        <LinkText to="/records" search={search} size="sm">
          All events
        </LinkText>
      }
    >
      <QueryBoundary query={events} what="events">
        {({ records }) => {
          const rows = (records as unknown as LiveEvent[]).filter(({ is_purged }) => !is_purged)
          return rows.length === 0 ? <Text size="sm">No events in this range.</Text> : <LiveRows events={rows} />
        }}
      </QueryBoundary>
    </UsageSection>
  )
}
