import { Group, Paper, SimpleGrid, Text, UnstyledButton, useMatches } from '@mantine/core'
import { api, type Query } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { formatCount } from '../../ui/formats.ts'
import { daysBack, type Facet, facetQuery, facets, facetValues } from './facets.ts'
import type { RecordsSearch } from './records-search.ts'

interface EventFacetsProps {
  search: RecordsSearch
  now: Date
  onChange(change: Partial<RecordsSearch>): void
}

/**
 * Shows the most frequent values of telemetry events with their counts; a click filters by one. The counts come from
 * stored sums, so they cost the same for any number of events. Filters that the sums do not have hide the facets, and
 * so does a phone, where they would be above a whole screen of rows.
 */
export function EventFacets({ search, now, onChange }: EventFacetsProps) {
  const { may } = useMe()
  const isPhone = useMatches({ base: true, sm: false }, { getInitialValueInEffect: false })
  const query = facetQuery(search, now)
  if (isPhone || query === undefined || !may('summarizeTelemetry')) return null
  const hasStart = search.within !== undefined || search.created_at__gte !== undefined
  return (
    <Paper withBorder p="sm" component="section" aria-label="Facets">
      <SimpleGrid cols={{ base: 2, md: 3, lg: 5 }} spacing="md" verticalSpacing="sm">
        {facets.map((facet) => (
          <FacetValues key={facet.name} facet={facet} query={query} search={search} onChange={onChange} />
        ))}
      </SimpleGrid>
      <Text size="xs" c="dimmed" mt="xs">
        {`Counts of events ${hasStart ? '' : `of the last ${daysBack} days, `}by the time they happened, widened to quarters of an hour.`}
      </Text>
    </Paper>
  )
}

interface FacetValuesProps extends Pick<EventFacetsProps, 'search' | 'onChange'> {
  facet: Facet
  query: Query<'summarizeTelemetry'>
}

function FacetValues({ facet: { name, group, label }, query, search, onChange }: FacetValuesProps) {
  // A facet counts its other values, too, so that the choice can be changed.
  const { [name]: _, success, ...others } = query
  // Error codes are those of failures in any case.
  const isOfAll = success !== undefined && name !== 'success' && name !== 'error_code'
  const params = { query: { ...others, ...(isOfAll && { success }), limit: 1000, ...(group && { group_by: group }) } }
  const summary = api.useQuery('get', '/api/v1/telemetry/summary', { params }, { staleTime: 60_000 })
  return (
    <section aria-label={label}>
      <Text size="sm" fw={600} mb={4}>
        {label}
      </Text>
      <QueryBoundary query={summary} what={label.toLowerCase()} skeleton={<SkeletonLines lines={3} height={20} />}>
        {(data) => {
          const values = facetValues(name, data)
          return (
            <>
              {values.length === 0 && (
                <Text size="sm" c="dimmed">
                  None
                </Text>
              )}
              {values.map(({ value, text, count }) => {
                const isChosen = search[name] === value
                return (
                  <UnstyledButton
                    key={value}
                    w="100%"
                    py={2}
                    aria-pressed={isChosen}
                    onClick={() => onChange({ record_type: 'telemetry_event', [name]: isChosen ? undefined : value })}
                  >
                    <Group justify="space-between" wrap="nowrap" gap="xs">
                      <Text size="sm" truncate fw={isChosen ? 700 : undefined} title={value}>
                        {text}
                      </Text>
                      <Text size="sm" c="dimmed">
                        {formatCount(count)}
                      </Text>
                    </Group>
                  </UnstyledButton>
                )
              })}
            </>
          )
        }}
      </QueryBoundary>
    </section>
  )
}
