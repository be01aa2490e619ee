import { SimpleGrid, Stack, Text } from '@mantine/core'
import { IconChartHistogram, IconDatabaseSearch } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { useMe } from '../../api/me.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import type { UsageGroup } from '../../components/usage-address.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { dimensionOf, type Filters, recordsOf } from '../command-center/breakdown/dimensions.ts'
import { stateOf } from '../command-center/change-text.tsx'
import { ChartsSkeleton } from '../command-center/charts/charts-skeleton.tsx'
import { KpiRow, KpiSkeleton } from '../command-center/kpi-row.tsx'
import { RangePicker } from '../command-center/range-picker.tsx'
import { rangeText } from '../command-center/range-text.ts'
import { isoOf, type Span } from '../command-center/ranges.ts'
import { useMetricsBefore, useMetricsByKey, useMetricsOverTime } from '../command-center/use-metrics.ts'
import { type RangeState, useRange } from '../command-center/use-range.ts'
import { ErrorCodesCard } from './error-codes-card.tsx'
import { LastRange } from './last-range.tsx'
import { RecentEvents } from './recent-events.tsx'
import { RecentSessions } from './recent-sessions.tsx'
import { RelatedDecisions } from './related-decisions.tsx'
import { TopKeys } from './top-keys.tsx'

// The chart library is larger than the rest of the page, and metrics come first.
const FigureCharts = lazy(() => import('../command-center/charts/figure-charts.tsx'))

interface UsagePageProps {
  group: UsageGroup
  /** The value of the dimension in telemetry; undefined while or if it is unknown. */
  id: string | undefined
  title: string
  about: ReactNode
  actions?: ReactNode
  /** The words of decisions about the object. */
  words: string | undefined
  /** Facts beside the metrics, such as versions and grants. */
  children?: ReactNode
  /** Shown in place of the metrics if the value of the dimension is unknown. */
  unknown?: ReactNode
}

/** Shows the usage of one skill, person, model or archetype. */
export function UsagePage({ group, id, title, about, actions, words, children, unknown }: UsagePageProps) {
  const { may } = useMe()
  const search: RangeState = useSearch({ strict: false })
  const navigate = useNavigate()
  const state = useRange(search)
  const change = (changes: RangeState) =>
    void navigate({ to: '.', search: (old: RangeState) => ({ ...old, ...changes }), resetScroll: false } as never)
  const onZoom = ({ from, to }: Span) => change({ range: 'custom', from: isoOf(from), to: isoOf(to) })
  const filters: Filters = { [dimensionOf(group).field]: id }
  return (
    <>
      <PageHeader
        title={title}
        about={about}
        actions={
          <>
            {actions}
            {id !== undefined && (
              <>
                {may('queryRecords') && (
                  <LinkButton
                    size="xs"
                    leftSection={<IconDatabaseSearch size={15} aria-hidden />}
                    to="/records"
                    search={recordsOf(filters, isoOf(state.range.from), isoOf(state.range.to))}
                  >
                    Show records
                  </LinkButton>
                )}
                <LinkButton
                  size="xs"
                  leftSection={<IconChartHistogram size={15} aria-hidden />}
                  to="/"
                  search={{ ...filters, ...search }}
                >
                  Show in command center
                </LinkButton>
              </>
            )}
          </>
        }
      />
      <Stack gap={6} mb="md">
        <RangePicker search={search} range={state.range} interval={state.interval} change={change} />
        <Text size="xs" c="dimmed">
          <bdi>{rangeText(state.range)}</bdi>. Compared with <bdi>{rangeText(state.range.before)}</bdi>.
        </Text>
      </Stack>
      {id === undefined ? unknown : <Usage {...state} {...{ filters, group, onZoom }} />}
      <Stack gap="md">
        {children}
        {id !== undefined && <RecentSessions filters={filters} range={state.range} />}
        {id !== undefined && <RecentEvents filters={filters} range={state.range} />}
        {words !== undefined && <RelatedDecisions words={words} />}
      </Stack>
    </>
  )
}

interface UsageProps extends ReturnType<typeof useRange> {
  filters: Filters
  group: UsageGroup
  onZoom(span: Span): void
}

function Usage({ range, interval, filters, group, onZoom }: UsageProps) {
  const figures = useMetricsOverTime({ span: range, filters, interval })
  const { before, rowsBefore } = useMetricsBefore({ range, filters, interval })
  const asked = { filters, group: 'user' as const, enabled: figures.isSuccess }
  const users = useMetricsByKey({ ...asked, span: range })
  const usersBefore = useMetricsByKey({ ...asked, span: range.before })
  const people = ({ data }: typeof users) => data && { count: data.rows.length, complete: data.complete }
  const others = (['skill', 'archetype', 'user', 'model'] as const).filter((each) => each !== group)
  return (
    <QueryBoundary
      query={figures}
      what="metrics"
      skeleton={
        <>
          <KpiSkeleton />
          <ChartsSkeleton />
        </>
      }
    >
      {({ totals, rows }) =>
        totals.invocations === 0 ? (
          <EmptyState
            title="No events in this range"
            action={<LastRange filters={filters} range={range} onChoose={onZoom} />}
          >
            {before.data?.totals.invocations
              ? 'There were events in the previous period. Choose a longer range.'
              : 'Choose a longer range, or check that senders use this name.'}
          </EmptyState>
        ) : (
          <>
            <KpiRow
              now={totals}
              before={before.data?.totals}
              {...{ rows, rowsBefore, range, interval }}
              people={people(users)}
              peopleBefore={people(usersBefore)}
              states={{ before: stateOf(before), people: stateOf(users), peopleBefore: stateOf(usersBefore) }}
            />
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="sm" mb="md">
              <ErrorCodesCard filters={filters} range={range} failures={totals.failures} />
              {others.map((each) => (
                <TopKeys key={each} group={each} filters={filters} range={range} />
              ))}
            </SimpleGrid>
            <Suspense fallback={<ChartsSkeleton />}>
              <FigureCharts {...{ rows, rowsBefore, totals, filters, interval, range, onZoom }} />
            </Suspense>
          </>
        )
      }
    </QueryBoundary>
  )
}
