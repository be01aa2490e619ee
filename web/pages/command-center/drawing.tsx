import '@mantine/charts/styles.css'
import { BarChart, CompositeChart, LineChart } from '@mantine/charts'
import { formatCount, formatMs, formatSeconds, formatShort, formatUsd } from '../../ui/formats.ts'
import styles from './drawing.module.css'
import type { Point } from './points.ts'

export type DrawingKind = 'usage' | 'latency' | 'cost' | 'tokens'

interface DrawingProps {
  kind: DrawingKind
  points: Point[]
  height: number
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
  switch (kind) {
    case 'usage':
      return (
        <BarChart
          {...shared}
          {...axis(formatShort)}
          type="stacked"
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
          valueFormatter={formatCount}
          series={[
            { name: 'tokensIn', label: 'In', color: 'blue.6' },
            { name: 'tokensOut', label: 'Out', color: 'orange.6' },
          ]}
        />
      )
    case 'latency':
      return (
        <LineChart
          {...shared}
          {...axis(formatSeconds)}
          curveType="linear"
          connectNulls={false}
          // An hour between two without events is no line.
          dotProps={{ r: 1.5, strokeWidth: 1 }}
          valueFormatter={formatMs}
          series={[
            { name: 'p50', label: 'p50', color: 'seal.6' },
            { name: 'p95', label: 'p95', color: 'blue.6', strokeDasharray: '6 3' },
            { name: 'p99', label: 'p99', color: 'orange.6', strokeDasharray: '2 3' },
          ]}
        />
      )
    case 'cost':
      return (
        <CompositeChart
          {...shared}
          {...axis(formatUsd)}
          curveType="linear"
          withDots={false}
          valueFormatter={formatUsd}
          series={[
            { name: 'variance', label: 'Variance', type: 'bar', color: 'orange.6' },
            { name: 'costEstimate', label: 'By senders', type: 'line', color: 'blue.6', strokeDasharray: '6 3' },
            { name: 'costComputed', label: 'By list prices', type: 'line', color: 'seal.6' },
          ]}
        />
      )
  }
}
