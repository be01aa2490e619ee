import { Button, Stack, Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Loaded } from '../../components/loaded.tsx'
import { viewQuery } from '../../components/view-query.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { ChartsSkeleton } from './charts-skeleton.tsx'
import { FilterChips } from './filter-chips.tsx'
import { KpiRow, KpiSkeleton } from './kpi-row.tsx'
import { NoTelemetry } from './no-telemetry.tsx'
import { RangePicker } from './range-picker.tsx'
import type { Span } from './ranges.ts'
import { useCenter } from './use-center.ts'
import { timeZone, useFiguresByKey, useFiguresOverTime, useTotals } from './use-figures.ts'

// The figures come first; what stands below them is loaded meanwhile.
const FigureCharts = lazy(() => import('./figure-charts.tsx'))
const BelowTheCharts = lazy(() => import('./below-the-charts.tsx'))
const SavedViews = lazy(() =>
  import('../../components/saved-views.tsx').then((module) => ({ default: module.SavedViews })),
)

/** Use, failures, latency and costs of skills. */
export default function CommandCenterPage() {
  const center = useCenter()
  const { search, filters, range, interval, isLive } = center
  const figures = useFiguresOverTime({ span: range, filters, interval, live: isLive })
  const before = useTotals({ span: range.before, filters })
  const isIn = figures.isSuccess
  const users = useFiguresByKey({ span: range, filters, group: 'user', enabled: isIn })
  const usersBefore = useFiguresByKey({ span: range.before, filters, group: 'user', enabled: isIn })
  const people = ({ data }: typeof users) => data && { count: data.rows.length, complete: data.complete }
  const isEmpty = figures.data?.totals.invocations === 0

  return (
    <>
      <PageHeader
        title="Command center"
        about="Who uses which skill, how often it fails, how long it takes and what it costs."
        actions={
          <Suspense
            fallback={
              <Button variant="default" disabled>
                Views
              </Button>
            }
          >
            <SavedViews
              page="command-center"
              query={viewQuery(search)}
              viewId={search.view}
              onChoose={(view) => (view ? center.show(view.query, view.view_id) : center.change({ view: undefined }))}
            />
          </Suspense>
        }
      />
      <Stack gap={6} mb="md">
        <RangePicker {...center} />
        <Text size="xs" c="dimmed">
          {`${spanText(range)}, days of ${timeZone}. Compared with ${spanText(range.before)}.`}
        </Text>
      </Stack>
      <FilterChips {...center} />
      <Loaded
        query={figures}
        what="figures"
        skeleton={
          <>
            <KpiSkeleton />
            <ChartsSkeleton />
          </>
        }
      >
        {({ totals, rows }) => (
          <>
            <KpiRow
              now={totals}
              before={before.data?.totals}
              people={people(users)}
              peopleBefore={people(usersBefore)}
            />
            {isEmpty ? (
              <NoTelemetry {...center} />
            ) : (
              <Suspense fallback={<ChartsSkeleton />}>
                <FigureCharts rows={rows} totals={totals} span={range} interval={interval} />
              </Suspense>
            )}
          </>
        )}
      </Loaded>
      {isIn && !isEmpty && (
        <Suspense fallback={null}>
          <BelowTheCharts {...center} />
        </Suspense>
      )}
    </>
  )
}

const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

function spanText({ from, to }: Span): string {
  return times.formatRange(from, to)
}
