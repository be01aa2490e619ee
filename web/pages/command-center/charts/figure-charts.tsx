import { SegmentedControl, SimpleGrid, Skeleton } from '@mantine/core'
import { lazy, Suspense, useMemo } from 'react'
import { api } from '../../../api/api-client.ts'
import { useMe } from '../../../api/me.ts'
import { useSkills } from '../../../components/full-lists.ts'
import { ChartFrame } from '../../../ui/chart-frame.tsx'
import { formatCount, formatMs, formatPercent, formatUsd } from '../../../ui/formats.ts'
import type { MetricColumn } from '../../../ui/metric-columns.ts'
import type { Filters } from '../breakdown/dimensions.ts'
import { type MarkedChange, markChanges, priceChangeText, releaseText } from '../marked-changes.ts'
import { priceChangesOf } from '../price-changes.ts'
import { daysOf, metricsOf } from '../range-text.ts'
import type { Interval, Range, Span } from '../ranges.ts'
import { skillReleasesOf } from '../skill-releases.ts'
import { costDifferenceOf, failureRate } from '../trends.ts'
import type { TimeRow, Totals } from '../use-metrics.ts'
import { CostSplitChart } from './cost-split-chart.tsx'
import {
  costColumns,
  latencyColumns,
  type Point,
  pointsOf,
  previousColumns,
  priceChangeColumn,
  releaseColumn,
  tokenColumns,
  usageColumns,
} from './points.ts'
import type { TrendChartKind } from './trend-chart.tsx'

// The chart library is larger than the rest of the page, and metrics come first.
const Drawing = lazy(() => import('./trend-chart.tsx'))

const drawingHeight = 290

interface FigureChartsProps {
  rows: readonly TimeRow[]
  /** The rows of the previous period; empty if there are none to compare with. */
  rowsBefore: readonly TimeRow[]
  totals: Totals
  range: Range
  filters: Filters
  interval: Interval
  /** The division of the cost chart, and its setter; absent on a page without it. */
  split?: CostSplitBy | undefined
  onSplit?(split: CostSplitBy | undefined): void
  /** Called with the range that the user selected by dragging over a chart. */
  onZoom?(span: Span): void
}

export type CostSplitBy = 'model' | 'skill'

/** Shows the metrics over time. */
export default function FigureCharts(props: FigureChartsProps) {
  const { rows, rowsBefore, totals, range: span, filters, interval, split, onSplit, onZoom } = props
  const { may } = useMe()
  const skills = useSkills({ enabled: may('listSkills'), staleTime: 60_000 })
  const prices = api.useQuery('get', '/api/v1/telemetry/prices', {}, { enabled: may('getPrices'), staleTime: 60_000 })
  const { points, changes, releases } = useMemo(() => {
    const drawn = pointsOf(rows, span, interval, rowsBefore)
    const marked = markChanges(priceChangesOf(prices.data?.prices ?? [], span, filters), drawn)
    const newVersions = markChanges(skillReleasesOf(skills.data ?? [], span, filters), drawn)
    const namesIn = (found: readonly MarkedChange[]) =>
      new Map(found.map(({ label, names }) => [label, names.join(', ')]))
    const [repriced, released] = [namesIn(marked), namesIn(newVersions)]
    return {
      points: drawn.map((point) => ({
        ...point,
        ...(repriced.has(point.label) && { repriced: repriced.get(point.label) }),
        ...(released.has(point.label) && { released: released.get(point.label) }),
      })),
      changes: marked,
      releases: newVersions,
    }
  }, [rows, rowsBefore, span, interval, prices.data, skills.data, filters])
  const priceText = changes.map((change) => ` ${priceChangeText(change)} on ${change.label}.`).join('')
  const releasesText = releases.map((release) => ` ${releaseText(release)} on ${release.label}.`).join('')
  const by = interval === 'hour' ? 'by hours' : 'by days'
  const charts: { kind: TrendChartKind; title: string; columns: MetricColumn<Point>[]; summary: string }[] = [
    {
      ...{
        kind: 'usage',
        title: 'Invocations and failures',
        columns: releases.length > 0 ? [...usageColumns, releaseColumn] : usageColumns,
      },
      summary: `${formatCount(totals.invocations)} invocations ${by}, of which ${formatPercent(failureRate(totals))} failed.${releasesText}`,
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
      summary: `Cost ${by}: ${formatUsd(totals.cost_usd_estimate)} reported, ${formatUsd(totals.cost_usd_computed)} calculated, a difference of ${formatUsd(costDifferenceOf(totals))}.${priceText}`,
    },
    {
      ...{ kind: 'tokens', title: 'Tokens', columns: tokenColumns },
      summary: `${formatCount(totals.tokens_in)} tokens in and ${formatCount(totals.tokens_out)} out, ${by}.`,
    },
  ]
  const hasBefore = points.some(({ previous }) => previous !== undefined)
  const splitChoice = onSplit && (
    <SegmentedControl
      size="xs"
      aria-label="Cost by"
      value={split ?? 'total'}
      onChange={(value) => onSplit(value === 'total' ? undefined : (value as CostSplitBy))}
      data={[
        { value: 'total', label: 'Total' },
        { value: 'model', label: 'Model' },
        { value: 'skill', label: 'Skill' },
      ]}
    />
  )
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm" mb="md">
      {charts.map(({ kind, title, summary, columns }) =>
        kind === 'cost' && split ? (
          <CostSplitChart
            key={kind}
            {...{ by: split, span, filters, interval, onZoom }}
            height={drawingHeight}
            actions={splitChoice}
          />
        ) : (
          <ChartFrame
            key={kind}
            title={title}
            about={metricsOf(span, filters)}
            fileSuffix={daysOf(span)}
            summary={summary}
            columns={hasBefore ? [...columns, previousColumns[kind]] : columns}
            rows={points}
            rowId={(point) => point.start}
            height={drawingHeight}
            actions={kind === 'cost' && splitChoice}
          >
            <Suspense fallback={<Skeleton height={drawingHeight} />}>
              <Drawing
                {...{ kind, points, changes, releases, hasBefore, onZoom }}
                height={drawingHeight}
                end={span.to}
              />
            </Suspense>
          </ChartFrame>
        ),
      )}
    </SimpleGrid>
  )
}
