import { SimpleGrid, Skeleton } from '@mantine/core'
import { lazy, Suspense, useMemo } from 'react'
import { api } from '../../../api/api-client.ts'
import { useMe } from '../../../api/me.ts'
import { ChartFrame } from '../../../ui/chart-frame.tsx'
import { formatCount, formatMs, formatPercent, formatUsd } from '../../../ui/formats.ts'
import type { MetricColumn } from '../../../ui/metric-columns.ts'
import type { Filters } from '../breakdown/dimensions.ts'
import { markChanges, priceChangesOf, priceChangeText } from '../price-changes.ts'
import { daysOf, metricsOf } from '../range-text.ts'
import type { Interval, Span } from '../ranges.ts'
import { failureRate } from '../trends.ts'
import { type TimeRow, type Totals, varianceOf } from '../use-metrics.ts'
import {
  costColumns,
  latencyColumns,
  type Point,
  pointsOf,
  priceChangeColumn,
  tokenColumns,
  usageColumns,
} from './points.ts'
import type { TrendChartKind } from './trend-chart.tsx'

// The chart library is larger than the rest of the page, and metrics come first.
const Drawing = lazy(() => import('./trend-chart.tsx'))

const drawingHeight = 290

interface FigureChartsProps {
  rows: readonly TimeRow[]
  totals: Totals
  span: Span
  filters: Filters
  interval: Interval
}

/** Shows the metrics over time. */
export default function FigureCharts({ rows, totals, span, filters, interval }: FigureChartsProps) {
  const prices = api.useQuery(
    'get',
    '/api/v1/telemetry/prices',
    {},
    { enabled: useMe().may('getPrices'), staleTime: 60_000 },
  )
  const { points, changes } = useMemo(() => {
    const drawn = pointsOf(rows, span, interval)
    const marked = markChanges(priceChangesOf(prices.data?.prices ?? [], span, filters), drawn)
    const repriced = new Map(marked.map(({ label, models }) => [label, models.join(', ')]))
    return {
      points: drawn.map((point) => ({
        ...point,
        ...(repriced.has(point.label) && { repriced: repriced.get(point.label) }),
      })),
      changes: marked,
    }
  }, [rows, span, interval, prices.data, filters])
  const priceText = changes.map((change) => ` ${priceChangeText(change)} on ${change.label}.`).join('')
  const by = interval === 'hour' ? 'by hours' : 'by days'
  const charts: { kind: TrendChartKind; title: string; columns: MetricColumn<Point>[]; summary: string }[] = [
    {
      ...{ kind: 'usage', title: 'Invocations and failures', columns: usageColumns },
      summary: `${formatCount(totals.invocations)} invocations ${by}, of which ${formatPercent(failureRate(totals))} failed.`,
    },
    {
      ...{ kind: 'latency', title: 'Latency', columns: latencyColumns },
      summary: `Percentiles of latency ${by}; of the whole range p50 is ${formatMs(totals.latency_ms.p50)}, p95 ${formatMs(totals.latency_ms.p95)} and p99 ${formatMs(totals.latency_ms.p99)}.`,
    },
    {
      ...{
        kind: 'cost',
        title: 'Cost',
        columns: changes.length > 0 ? [...costColumns, priceChangeColumn] : costColumns,
      },
      summary: `Cost ${by}: ${formatUsd(totals.cost_usd_estimate)} reported, ${formatUsd(totals.cost_usd_computed)} calculated, a difference of ${formatUsd(varianceOf(totals))}.${priceText}`,
    },
    {
      ...{ kind: 'tokens', title: 'Tokens', columns: tokenColumns },
      summary: `${formatCount(totals.tokens_in)} tokens in and ${formatCount(totals.tokens_out)} out, ${by}.`,
    },
  ]
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm" mb="md">
      {charts.map(({ kind, title, summary, columns }) => (
        <ChartFrame
          key={kind}
          title={title}
          about={metricsOf(span, filters)}
          fileSuffix={daysOf(span)}
          summary={summary}
          columns={columns}
          rows={points}
          rowId={(point) => point.start}
          height={drawingHeight}
        >
          <Suspense fallback={<Skeleton height={drawingHeight} />}>
            <Drawing kind={kind} points={points} height={drawingHeight} changes={changes} />
          </Suspense>
        </ChartFrame>
      ))}
    </SimpleGrid>
  )
}
