import { Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useMemo } from 'react'
import type { Query } from '../../../api/api-client.ts'
import { QueryBoundary } from '../../../components/query-boundary.tsx'
import { ChartFrame } from '../../../ui/chart-frame.tsx'
import { formatUsd, formatUsdInColumn } from '../../../ui/formats.ts'
import type { MetricColumn } from '../../../ui/metric-columns.ts'
import type { Filters } from '../breakdown/dimensions.ts'
import { daysOf, metricsOf } from '../range-text.ts'
import { type Interval, isoOf, type Span } from '../ranges.ts'
import { readKeys, rowsPerPage, timeZone } from '../use-metrics.ts'
import { type SplitPoint, splitCost } from './cost-split.ts'

const Drawing = lazy(() => import('./split-chart.tsx'))

interface CostSplitChartProps {
  by: 'model' | 'skill'
  span: Span
  filters: Filters
  interval: Interval
  height: number
  actions: ReactNode
  onZoom?: ((span: Span) => void) | undefined
}

/** Shows the reported cost over time, stacked by model or skill. */
export function CostSplitChart({ by, span, filters, interval, height, actions, onZoom }: CostSplitChartProps) {
  const query: Query<'summarizeTelemetry'> = {
    ...{ from: isoOf(span.from), to: isoOf(span.to), interval, time_zone: timeZone },
    ...{ group_by: by, limit: rowsPerPage, ...filters },
  }
  const rows = useQuery({
    queryKey: ['cost by key and time', query],
    queryFn: ({ signal }) => readKeys(query, signal),
    staleTime: 60_000,
  })
  const split = useMemo(() => splitCost(rows.data?.rows ?? [], span, interval), [rows.data, span, interval])
  const columns: MetricColumn<SplitPoint>[] = [
    { id: 'start', label: 'From', value: (point) => point.start, text: (point) => point.label },
    ...split.series.map(({ name, label }) => ({
      ...{ id: name, label, value: (point: SplitPoint) => point[name] },
      text: (point: SplitPoint) => formatUsdInColumn(point[name]),
    })),
  ]
  const sums = split.series.map(
    ({ name, label }) => `${label} ${formatUsd(split.points.reduce((sum, point) => sum + (point[name] ?? 0), 0))}`,
  )
  return (
    <ChartFrame
      title="Cost"
      about={`${metricsOf(span, filters)} · Reported cost by ${by}`}
      fileSuffix={`by-${by}-${daysOf(span)}`}
      summary={`Reported cost by ${by}: ${sums.join(', ')}.`}
      columns={columns}
      rows={split.points}
      rowId={(point) => point.start}
      height={height}
      actions={actions}
    >
      <QueryBoundary query={rows} what={`cost by ${by}`} skeleton={<Skeleton height={height} />}>
        {({ complete }) => (
          <>
            <Text size="xs" c="dimmed">
              {`Reported cost by ${by}.`}
              {!complete && ' There are more values than can be shown. Choose days, a shorter range or a filter.'}
            </Text>
            <Suspense fallback={<Skeleton height={height - 20} />}>
              <Drawing {...split} height={height - 20} end={span.to} onZoom={onZoom} />
            </Suspense>
          </>
        )}
      </QueryBoundary>
    </ChartFrame>
  )
}
