import { Text } from '@mantine/core'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import type { Filters } from '../command-center/breakdown/dimensions.ts'
import { isoOf, type Span } from '../command-center/ranges.ts'
import { sessionColumns } from '../sessions/session-columns.tsx'
import { UsageSection } from './usage-section.tsx'

const shown = 5

/** Shows the newest sessions of the range. The Hub finds sessions by skill, archetype and user, not by model. */
export function RecentSessions({ filters, range }: { filters: Filters; range: Span }) {
  const { may } = useMe()
  const { skill_id, archetype_id, user_id } = filters
  const found = { ...(skill_id && { skill_id }), ...(archetype_id && { archetype_id }), ...(user_id && { user_id }) }
  const search = { ...found, created_at__gte: isoOf(range.from), created_at__lt: isoOf(range.to) }
  const isAsked = may('listTelemetrySessions') && Object.keys(found).length > 0
  const sessions = api.useQuery(
    'get',
    '/api/v1/hub/sessions',
    { params: { query: { ...search, limit: shown } } },
    { enabled: isAsked, staleTime: 30_000 },
  )
  if (!isAsked) return null
  return (
    <UsageSection
      title="Recent sessions"
      more={
        <LinkText to="/sessions" search={search} size="sm">
          All sessions
        </LinkText>
      }
    >
      <QueryBoundary query={sessions} what="sessions">
        {({ items }) =>
          items.length === 0 ? (
            <Text size="sm">No sessions among the newest events of this range.</Text>
          ) : (
            <DataTable
              label="Recent sessions"
              rows={items}
              columns={sessionColumns}
              rowId={({ session_id }) => session_id}
              maxHeight="20rem"
            />
          )
        }
      </QueryBoundary>
    </UsageSection>
  )
}
