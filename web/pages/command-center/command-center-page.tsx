import { Box, Skeleton, Stack, Text } from '@mantine/core'
import { lazy, Suspense, useCallback, useEffect, useState } from 'react'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { type LoadableQuery, QueryBoundary } from '../../components/query-boundary.tsx'
import { viewQuery } from '../../components/view-query.ts'
import { ViewsSkeleton } from '../../components/views-skeleton.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { stateOf } from './change-text.tsx'
import { ChartsSkeleton } from './charts/charts-skeleton.tsx'
import { useDemo } from './demo/demo-load.ts'
import { FilterChips } from './filter-chips.tsx'
import { KpiRow, KpiSkeleton } from './kpi-row.tsx'
import { RangePicker } from './range-picker.tsx'
import { momentText, rangeText } from './range-text.ts'
import { comparedRange, customRangeFault, isoOf, longestDays } from './ranges.ts'
import { timeZone, useMetricsBefore, useMetricsByKey, useMetricsOverTime } from './use-metrics.ts'
import { type SearchState, useSearchState } from './use-search-state.ts'

// The metrics come first; the scripts for everything else load once they are shown.
const FigureCharts = lazy(() => import('./charts/figure-charts.tsx'))
const WhatChanged = lazy(() => import('./what-changed.tsx'))
const BelowTheCharts = lazy(() => import('./below-the-charts.tsx'))
const DemoProgress = lazy(() => import('./demo/demo-progress.tsx'))
const FirstArrival = lazy(() => import('../../components/quick-start/first-arrival.tsx'))
const NoTelemetry = lazy(() => import('./no-telemetry.tsx'))
const SavedViews = lazy(() =>
  import('../../components/saved-views.tsx').then((module) => ({ default: module.SavedViews })),
)

/** Shows use, failures, latency and costs of skills. */
export default function CommandCenterPage() {
  const demo = useDemo()
  const chosen = useSearchState()
  // A load of demo data uses the Hub and this window, so metrics are read again when it ends.
  const center = { ...chosen, isLive: chosen.isLive && demo.load.state !== 'loading' }
  const { search, filters, range, interval, isLive } = center
  const figures = useMetricsOverTime({ span: range, filters, interval, live: isLive })
  const { before, rowsBefore } = useMetricsBefore({ range, filters, interval })
  const isIn = figures.isSuccess
  const isSettled = isIn || figures.isError
  const [isRestWanted, setRestWanted] = useState(false)
  // The first event stays named when the metrics replace the empty page.
  const [hadNone, setHadNone] = useState(false)
  const onNone = useCallback(() => setHadNone(true), [])
  useEffect(() => {
    if (isSettled) setRestWanted(true)
  }, [isSettled])
  const users = useMetricsByKey({ span: range, filters, group: 'user', enabled: isIn })
  const usersBefore = useMetricsByKey({ span: range.before, filters, group: 'user', enabled: isIn })
  const people = ({ data }: typeof users) => data && { count: data.rows.length, complete: data.complete }
  const isEmpty = figures.data?.totals.invocations === 0

  return (
    <>
      <PageHeader
        title="Overview"
        about="Who uses which skill, how often it fails, how long it takes and what it costs."
        actions={
          <Suspense fallback={<ViewsSkeleton viewId={search.view} />}>
            {isRestWanted ? (
              <SavedViews
                page="command-center"
                query={viewQuery(search)}
                viewId={search.view}
                onChoose={(view) => (view ? center.show(view.query, view.view_id) : center.change({ view: undefined }))}
              />
            ) : (
              <ViewsSkeleton viewId={search.view} />
            )}
          </Suspense>
        }
      />
      {(demo.load.state !== 'none' || (demo.isUnfinished && !isEmpty)) && (
        <Suspense fallback={null}>
          <DemoProgress />
        </Suspense>
      )}
      <Stack gap={6} mb="md">
        <RangePicker {...chosen} />
        <RangeFault search={search} />
        <Text size="xs" c="dimmed">
          <bdi>{center.lastsUntilNow ? `From ${momentText(range.from)} until now` : rangeText(range)}</bdi>, days of{' '}
          {timeZone}. {before.data?.totals.invocations === 0 ? 'No events in' : 'Compared with'}{' '}
          {comparedRange(search) ? 'another range' : 'the previous period'}, <bdi>{rangeText(range.before)}</bdi>.
        </Text>
      </Stack>
      <FilterChips {...center} />
      {hadNone && demo.load.state === 'none' && (
        <Suspense fallback={null}>
          <Box mb="md">
            <FirstArrival />
          </Box>
        </Suspense>
      )}
      <QueryBoundary
        query={figures}
        what="metrics"
        skeleton={
          <>
            <KpiSkeleton />
            <BelowSkeleton />
          </>
        }
      >
        {({ totals, rows }) => (
          <>
            {/* Zeros carry no information, and would push the next step out of view. */}
            {!isEmpty && (
              <KpiRow
                now={totals}
                before={before.data?.totals}
                {...{ rows, rowsBefore, range, interval }}
                people={people(users)}
                peopleBefore={people(usersBefore)}
                states={{ before: stateOf(before), people: stateOf(users), peopleBefore: stateOf(usersBefore) }}
              />
            )}
            <UnreadFigures queries={[before, users, usersBefore]} />
            {!isRestWanted ? (
              <BelowSkeleton />
            ) : isEmpty && demo.load.state !== 'none' ? null : isEmpty ? (
              <Suspense fallback={null}>
                <NoTelemetry {...center} onNone={onNone} />
              </Suspense>
            ) : (
              <Suspense fallback={<BelowSkeleton />}>
                <WhatChanged {...center} />
                <FigureCharts
                  {...{ rows, rowsBefore, totals, filters, interval, range, split: search.split }}
                  onSplit={(split) => center.change({ split })}
                  onZoom={({ from, to }) => center.change({ range: 'custom', from: isoOf(from), to: isoOf(to) })}
                />
              </Suspense>
            )}
          </>
        )}
      </QueryBoundary>
      {/* The content stays while the metrics of another range or filter load, so that the page does not move. */}
      {isRestWanted && !isEmpty && (
        <Suspense fallback={null}>
          <Box mt={figures.isError && !figures.data ? 'md' : undefined}>
            <BelowTheCharts center={center} figures={figures} />
          </Box>
        </Suspense>
      )}
    </>
  )
}

/** Shows a placeholder of the size of the drivers and the charts. */
function BelowSkeleton() {
  return (
    <>
      <Skeleton height={83} mb="md" radius="md" aria-hidden />
      <ChartsSkeleton />
    </>
  )
}

/** Shows that the custom range of a link is invalid, and another range is shown. */
function RangeFault({ search }: Pick<SearchState, 'search'>) {
  const fault = customRangeFault(search)
  return (
    fault && (
      <Notice kind="warning" title={faults[fault].title}>
        {faults[fault].shown}
      </Notice>
    )
  )
}

const faults = {
  incomplete: { title: 'The range of this link has no beginning or no end', shown: 'Shown are the last 30 days.' },
  reversed: { title: 'The range of this link does not end after it begins', shown: 'Shown are the last 30 days.' },
  long: { title: 'The range of this link is too long', shown: `Shown are the last ${longestDays} days of it.` },
}

/** Shows that some metrics are missing because they could not be loaded. */
function UnreadFigures({ queries }: { queries: Pick<LoadableQuery<unknown>, 'data' | 'error' | 'refetch'>[] }) {
  const failed = queries.filter(({ data, error }) => data === undefined && error)
  if (!failed[0]) return null
  const readAgain = () => {
    for (const { refetch } of failed) void refetch()
  }
  return (
    <Box mb="md">
      <ProblemNotice error={failed[0].error} title="Could not load some metrics" onRetry={readAgain} />
    </Box>
  )
}
