import '@mantine/charts/styles.css'
import { BarChart, LineChart } from '@mantine/charts'
import { Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { formatCount, formatMs, formatSeconds, formatShort, formatUsd, formatUsdShort } from '../../../ui/formats.ts'
import { type MarkedChange, priceChangeText } from '../price-changes.ts'
import { LineLegend, type LineSeries } from './line-legend.tsx'
import type { Point } from './points.ts'
import styles from './trend-chart.module.css'

export type TrendChartKind = 'usage' | 'latency' | 'cost' | 'tokens'

interface DrawingProps {
  kind: TrendChartKind
  points: Point[]
  height: number
  /** Price changes that the cost chart marks. */
  changes: readonly MarkedChange[]
}

type Percentile = 'p50' | 'p95' | 'p99'

/** Height of the difference chart with its title, which is part of the cost chart's height. */
const differenceHeight = 104

/** Reserves space for the labels at both ends of an axis. */
const chartProps = { margin: { top: 10, right: 6, bottom: 0, left: 0 } }

/** Maximum number of labelled price changes. More would overlap; the table names the models. */
const labelledChangesMax = 2

const priceChange: LineSeries = {
  ...{ name: 'priceChange', label: 'Price change', color: 'orange.6', strokeWidth: 1.5, strokeDasharray: '3 2' },
  upright: true,
}

/** Lines in drawing order: the last one is fully visible. */
const percentiles: LineSeries[] = [
  { name: 'p99', label: 'p99', color: 'orange.5', strokeWidth: 1.5, strokeDasharray: '2 3' },
  { name: 'p95', label: 'p95', color: 'blue.6', strokeWidth: 1.5 },
  { name: 'p50', label: 'p50', color: 'seal.6', strokeWidth: 1.5 },
]
const costs: LineSeries[] = [
  { name: 'costComputed', label: 'Calculated', color: 'seal.5', strokeWidth: 4 },
  { name: 'costEstimate', label: 'Reported', color: 'blue.6', strokeWidth: 1.5, strokeDasharray: '5 3' },
]

/** Draws a dot for a single hour between hours without events, which forms no line. */
function lonePoint(points: readonly Point[], name: Percentile) {
  return ({ cx, cy, index, stroke }: { cx?: number; cy?: number; index: number; stroke?: string }) => {
    const isLone = points[index - 1]?.[name] === undefined && points[index + 1]?.[name] === undefined
    return isLone && points[index]?.[name] !== undefined ? (
      <circle key={index} cx={cx} cy={cy} r={2} fill={stroke} />
    ) : (
      <g key={index} />
    )
  }
}

/** The chart itself, in a separate script because of the chart library. */
export default function TrendChart({ kind, points, height, changes }: DrawingProps) {
  const isNarrow = useMediaQuery('(max-width: 48em)')
  const ticks = new Map(points.map(({ label, tick }) => [label, tick]))
  const shared = {
    data: points,
    dataKey: 'label',
    h: height,
    withLegend: true,
    legendProps: { verticalAlign: 'bottom' as const, height: 36 },
    classNames: { legend: styles.legend, legendItem: styles.legendItem },
    tickLine: 'none' as const,
    gridAxis: 'x' as const,
    xAxisProps: {
      tickFormatter: (label: string) => ticks.get(label) ?? label,
      // Shows the start of each day; without space for all, every second or third one, evenly.
      ticks: points.filter(({ tick }, index) => tick !== points[index - 1]?.tick).map(({ label }) => label),
      interval: 'equidistantPreserveStart' as const,
      minTickGap: 8,
    },
    textColor: 'var(--mantine-color-dimmed)',
  }
  const axis = (format: (value: number) => string) => ({ yAxisProps: { width: 64, tickFormatter: format } })
  const lines = (series: LineSeries[], marks: LineSeries[] = []) => ({
    curveType: 'linear' as const,
    withDots: false,
    series: series.map(({ strokeWidth: _, ...line }) => line),
    lineProps: ({ name }: { name: string }) => ({
      strokeWidth: series.find((line) => line.name === name)?.strokeWidth,
    }),
    legendProps: { ...shared.legendProps, content: () => <LineLegend series={[...series, ...marks]} /> },
    lineChartProps: chartProps,
  })
  switch (kind) {
    case 'usage':
      return (
        <BarChart
          {...shared}
          {...axis(formatShort)}
          type="stacked"
          barChartProps={chartProps}
          valueFormatter={formatCount}
          series={[
            { name: 'succeeded', label: 'Succeeded', color: 'seal.6' },
            { name: 'failures', label: 'Failed', color: 'red.7' },
          ]}
        />
      )
    case 'tokens':
      return (
        <BarChart
          {...shared}
          {...axis(formatShort)}
          type="stacked"
          barChartProps={chartProps}
          valueFormatter={formatCount}
          series={[
            { name: 'tokensIn', label: 'In', color: 'blue.6' },
            { name: 'tokensOut', label: 'Out', color: 'orange.6' },
          ]}
        />
      )
    case 'latency': {
      const drawn = lines(percentiles)
      return (
        <LineChart
          {...shared}
          {...axis(formatSeconds)}
          {...drawn}
          connectNulls={false}
          lineProps={(line) => ({ ...drawn.lineProps(line), dot: lonePoint(points, line.name as Percentile) })}
          valueFormatter={formatMs}
        />
      )
    }
    case 'cost':
      return (
        <>
          <LineChart
            {...shared}
            {...axis(formatUsdShort)}
            {...lines(costs, changes.length > 0 ? [priceChange] : [])}
            referenceLines={priceLines(changes, points, isNarrow)}
            h={height - differenceHeight}
            valueFormatter={formatUsd}
          />
          {/* The difference has its own scale, because it is small beside the costs. */}
          <Text size="xs" c="dimmed" h={18} mt={10}>
            Difference (reported − calculated)
          </Text>
          <BarChart
            {...shared}
            h={differenceHeight - 28}
            withLegend={false}
            withXAxis={false}
            barChartProps={{ margin: { ...chartProps.margin, bottom: 10 } }}
            yAxisProps={{ width: 64, tickFormatter: formatUsdShort, tickCount: 3, interval: 0 }}
            valueFormatter={formatUsd}
            series={[{ name: 'variance', label: 'Difference', color: 'orange.6' }]}
          />
        </>
      )
  }
}

/** Draws a vertical line for each change. Its label is on the side with space, and on a phone it names models only. */
function priceLines(changes: readonly MarkedChange[], points: readonly Point[], isNarrow: boolean) {
  return changes.map((change) => {
    const isLate = points.findIndex(({ label }) => label === change.label) > points.length / 2
    return {
      ...{ x: change.label, color: priceChange.color, strokeDasharray: priceChange.strokeDasharray ?? '' },
      ...(changes.length <= labelledChangesMax && {
        label: {
          value: isNarrow ? change.models.join(', ') : priceChangeText(change),
          fill: 'currentColor',
          fontSize: 11,
        },
      }),
      labelPosition: isLate ? ('insideTopRight' as const) : ('insideTopLeft' as const),
    }
  })
}
