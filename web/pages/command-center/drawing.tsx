import '@mantine/charts/styles.css'
import { BarChart, LineChart } from '@mantine/charts'
import { Text } from '@mantine/core'
import { formatCount, formatMs, formatSeconds, formatShort, formatUsd, formatUsdShort } from '../../ui/formats.ts'
import styles from './drawing.module.css'
import { LineLegend, type LineSeries } from './line-legend.tsx'
import type { Point } from './points.ts'

export type DrawingKind = 'usage' | 'latency' | 'cost' | 'tokens'

interface DrawingProps {
  kind: DrawingKind
  points: Point[]
  height: number
}

type Percentile = 'p50' | 'p95' | 'p99'

/** Of the height of the costs, with its title. */
const varianceHeight = 112

/** So that the labels at both ends of an axis have room on their lines. */
const chartProps = { margin: { top: 10, right: 6, bottom: 0, left: 0 } }

/** In the order in which they are drawn: what is above is seen whole. */
const percentiles: LineSeries[] = [
  { name: 'p99', label: 'p99', color: 'orange.5', strokeWidth: 1.5, strokeDasharray: '2 3' },
  { name: 'p95', label: 'p95', color: 'blue.6', strokeWidth: 1.5 },
  { name: 'p50', label: 'p50', color: 'seal.6', strokeWidth: 1.5 },
]
const costs: LineSeries[] = [
  { name: 'costComputed', label: 'By list prices', color: 'seal.5', strokeWidth: 4 },
  { name: 'costEstimate', label: 'By senders', color: 'blue.6', strokeWidth: 1.5, strokeDasharray: '5 3' },
]

/** An hour with events between two without is no line, so it has a dot; all others have none. */
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

/** The chart itself, apart from the rest since it brings the library that draws. */
export default function Drawing({ kind, points, height }: DrawingProps) {
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
      // Of each day its beginning, and where there is no room for all every second one or third, evenly.
      ticks: points.filter(({ tick }, index) => tick !== points[index - 1]?.tick).map(({ label }) => label),
      interval: 'equidistantPreserveStart' as const,
      minTickGap: 8,
    },
    textColor: 'var(--mantine-color-dimmed)',
  }
  const axis = (format: (value: number) => string) => ({ yAxisProps: { width: 64, tickFormatter: format } })
  const lines = (series: LineSeries[]) => ({
    curveType: 'linear' as const,
    withDots: false,
    series: series.map(({ strokeWidth: _, ...line }) => line),
    lineProps: ({ name }: { name: string }) => ({
      strokeWidth: series.find((line) => line.name === name)?.strokeWidth,
    }),
    legendProps: { ...shared.legendProps, content: () => <LineLegend series={series} /> },
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
            {...lines(costs)}
            h={height - varianceHeight}
            valueFormatter={formatUsd}
          />
          {/* With a scale of its own: it is small beside the costs. */}
          <Text size="xs" c="dimmed" h={18} mt={10}>
            Variance: senders less list prices
          </Text>
          <BarChart
            {...shared}
            h={varianceHeight - 28}
            withLegend={false}
            withXAxis={false}
            barChartProps={{ margin: { ...chartProps.margin, bottom: 10 } }}
            yAxisProps={{ width: 64, tickFormatter: formatUsdShort, tickCount: 3, interval: 0 }}
            valueFormatter={formatUsd}
            series={[{ name: 'variance', label: 'Variance', color: 'orange.6' }]}
          />
        </>
      )
  }
}
