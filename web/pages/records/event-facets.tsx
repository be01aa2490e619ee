import { Group, Paper, SimpleGrid, Stack, Text, UnstyledButton, useMatches } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import { recordTypes } from '../../../contract/literals.ts'
import { canSee } from '../../../contract/record-visibility.ts'
import { api, type Query } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { recordTypeLooks } from '../../components/record-type.tsx'
import { formatCount } from '../../ui/formats.ts'
import { fillHeight, useFillHeight } from '../../ui/use-fill-height.ts'
import { daysBack, type Facet, facetQuery, facets, facetValues } from './facets.ts'
import type { RecordsSearch } from './records-search.ts'

interface EventFacetsProps {
  search: RecordsSearch
  now: Date
  onChange(change: Partial<RecordsSearch>): void
}

/** Returns whether the window has room for facets beside the list. */
function useFacetsBeside(): boolean {
  return useMatches({ base: false, xl: true }, { getInitialValueInEffect: false })
}

/**
 * Shows types, and the most frequent values of telemetry events with their counts; a click filters by one. The counts
 * come from stored sums, so they cost the same for any number of events. Filters that the sums do not have hide them.
 * A wide window shows them beside the list. A narrower one shows them above it, for events only. A phone hides them,
 * because they would fill the screen.
 */
export function EventFacets({ search, now, onChange }: EventFacetsProps) {
  const { may } = useMe()
  const isBeside = useFacetsBeside()
  const isPhone = useMatches({ base: true, sm: false }, { getInitialValueInEffect: false })
  const query = may('summarizeTelemetry') ? facetQuery(search, now) : undefined
  const values =
    query &&
    facets.map((facet) => (
      <FacetValues key={facet.name} facet={facet} query={query} search={search} onChange={onChange} />
    ))
  const hasStart = search.within !== undefined || search.created_at__gte !== undefined
  const note = query && (
    <Text size="xs" c="dimmed" mt="xs">
      {`Counts of events ${hasStart ? '' : `of the last ${daysBack} days, `}by the time they happened, widened to quarters of an hour.`}
    </Text>
  )
  if (isBeside)
    return (
      <Beside>
        <TypeValues search={search} onChange={onChange} />
        {values}
        {note}
      </Beside>
    )
  if (isPhone || !values || search.record_type === undefined) return null
  return (
    <Paper withBorder p="sm" component="section" aria-label="Facets">
      <SimpleGrid cols={{ base: 2, md: 3, lg: 5 }} spacing="md" verticalSpacing="sm">
        {values}
      </SimpleGrid>
      {note}
    </Paper>
  )
}

/** A column that scrolls by itself, so that the list beside it stays in view. */
function Beside({ children }: { children: ReactNode }) {
  const column = useRef<HTMLDivElement>(null)
  useFillHeight(column, true)
  return (
    <Paper
      ref={column}
      withBorder
      p="sm"
      w={224}
      flex="none"
      component="section"
      aria-label="Facets"
      style={{ maxHeight: fillHeight, overflowY: 'auto' }}
    >
      <Stack gap="md">{children}</Stack>
    </Paper>
  )
}

/** Types have no counts: the Hub has none that are cheap. */
function TypeValues({ search, onChange }: Pick<EventFacetsProps, 'search' | 'onChange'>) {
  const { scopes } = useMe()
  const types = recordTypes.filter((type) => canSee(scopes, type))
  return (
    <section aria-label="Type">
      <Text size="sm" fw={600} mb={4}>
        Type
      </Text>
      {types.map((type) => (
        <Value
          key={type}
          text={recordTypeLooks[type].plural}
          isChosen={search.record_type === type}
          onChoose={(record_type) => onChange({ record_type })}
          value={type}
        />
      ))}
    </section>
  )
}

interface ValueProps<Chosen extends string> {
  value: Chosen
  text: string
  count?: number
  isChosen: boolean
  /** Called with the value, or undefined if it was chosen before. */
  onChoose(value: Chosen | undefined): void
}

function Value<Chosen extends string>({ value, text, count, isChosen, onChoose }: ValueProps<Chosen>) {
  return (
    <UnstyledButton w="100%" py={2} aria-pressed={isChosen} onClick={() => onChoose(isChosen ? undefined : value)}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" truncate fw={isChosen ? 700 : undefined} title={value}>
          {text}
        </Text>
        {count !== undefined && (
          <Text size="sm" c="dimmed">
            {formatCount(count)}
          </Text>
        )}
      </Group>
    </UnstyledButton>
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
              {values.map((each) => (
                <Value
                  key={each.value}
                  {...each}
                  isChosen={search[name] === each.value}
                  onChoose={(value) => onChange({ record_type: 'telemetry_event', [name]: value })}
                />
              ))}
            </>
          )
        }}
      </QueryBoundary>
    </section>
  )
}
