import '@mantine/charts/styles.css'
import { BarChart, ChartLegend, LineChart } from '@mantine/charts'
import { getThemeColor, Text, useMantineTheme } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { Line } from 'recharts'
import { formatCount, formatMs, formatSeconds, formatShort, formatUsd, formatUsdShort } from '../../../ui/formats.ts'
import { type MarkedChange, priceChangeText, releaseText } from '../marked-changes.ts'
import type { Span } from '../ranges.ts'
import { chartMargin, sharedProps } from './chart-props.ts'
import { LineLegend, type LineSeries } from './line-legend.tsx'
import type { Point } from './points.ts'
import { previousLines, tooltipOf } from './previous-line.tsx'
import { useDragZoom } from './use-drag-zoom.tsx'

export type TrendChartKind = 'usage' | 'latency' | 'cost' | 'tokens'

interface DrawingProps {
  kind: TrendChartKind
  points: Point[]
  height: number
  /** Price changes that the cost chart marks. */
  changes: readonly MarkedChange[]
  /** New versions of skills that the chart of usage marks. */
  releases: readonly MarkedChange[]
  /** True if the points have values of the previous period. */
  hasBefore: boolean
  /** The end of the range, in milliseconds since 1970. */
  end: number
  /** Called with the range that the user selected by dragging. */
  onZoom?: ((span: Span) => void) | undefined
}

type Percentile = 'p50' | 'p95' | 'p99'

/** Height of the difference chart with its title, which is part of the cost chart's height. */
const differenceHeight = 104

/** Maximum number of labelled changes. More would overlap; the table names them. */
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

type Series = Pick<LineSeries, 'name' | 'label' | 'color'>
const results: Series[] = [
  { name: 'succeeded', label: 'Succeeded', color: 'seal.6' },
  { name: 'failures', label: 'Failed', color: 'red.7' },
]
const tokens: Series[] = [
  { name: 'tokensIn', label: 'In', color: 'blue.6' },
  { name: 'tokensOut', label: 'Out', color: 'orange.6' },
]

const formats: Record<TrendChartKind, (value: number) => string> = {
  ...{ usage: formatCount, tokens: formatCount },
  ...{ latency: formatMs, cost: formatUsd },
}

interface DotProps {
  cx?: number | undefined
  cy?: number | undefined
  index: number
  stroke?: string | undefined
}

/** Draws a dot for a single hour between hours without events, which forms no line. */
function lonePoint(points: readonly Point[], name: Percentile) {
  return ({ cx, cy, index, stroke }: DotProps) => {
    const isLone = points[index - 1]?.[name] === undefined && points[index + 1]?.[name] === undefined
    return isLone && points[index]?.[name] !== undefined ? (
      <circle key={index} cx={cx} cy={cy} r={2} fill={stroke} />
    ) : (
      <g key={index} />
    )
  }
}

/** The chart itself, in a separate script because of the chart library. */
export default function TrendChart(props: DrawingProps) {
  const { kind, points, height, changes, releases, hasBefore, end, onZoom } = props
  const theme = useMantineTheme()
  const isNarrow = useMediaQuery('(max-width: 48em)')
  const { handlers, selection } = useDragZoom(points, end, onZoom)
  const chartProps = { margin: chartMargin, ...handlers }
  const format = formats[kind]
  const shared = { ...sharedProps(points, height), valueFormatter: format, children: selection }
  const axis = (format: (value: number) => string) => ({ yAxisProps: { width: 64, tickFormatter: format } })
  const before = hasBefore ? [previousLines[kind]] : []
  const lines = (named: LineSeries[], marks: LineSeries[] = []) => {
    const series = [...before, ...named]
    return {
      tooltipProps: tooltipOf(series, previousLines[kind], format),
      curveType: 'linear' as const,
      withDots: false,
      series: series.map(({ strokeWidth: _, ...line }) => line),
      lineProps: ({ name }: { name: string }) => ({
        strokeWidth: series.find((line) => line.name === name)?.strokeWidth ?? 1.5,
      }),
      legendProps: { ...shared.legendProps, content: () => <LineLegend series={[...series, ...marks]} /> },
      lineChartProps: chartProps,
    }
  }
  /** Draws stacked bars, with the sum of the previous period as a line. */
  const bars = (series: Series[]) => ({
    tooltipProps: tooltipOf([...series, ...before], previousLines[kind], format),
    type: 'stacked' as const,
    series,
    barChartProps: chartProps,
    legendProps: {
      ...shared.legendProps,
      content: ({ payload }: { payload?: readonly object[] }) => (
        <ChartLegend
          payload={payload}
          series={[...series, ...before]}
          onHighlight={() => {}}
          legendPosition="bottom"
          classNames={shared.classNames}
        />
      ),
    },
    children: (
      <>
        {before.map(({ name, color, strokeWidth, strokeDasharray = '' }) => (
          <Line
            key={name}
            {...{ name, dataKey: name, stroke: getThemeColor(color, theme), strokeWidth, strokeDasharray }}
            {...{ dot: false, activeDot: false, isAnimationActive: false }}
          />
        ))}
        {selection}
      </>
    ),
  })
  switch (kind) {
    case 'usage':
      return (
        <BarChart
          {...shared}
          {...axis(formatShort)}
          {...bars(results)}
          referenceLines={changeLines(releases, points, isNarrow, releaseText)}
        />
      )
    case 'tokens':
      return <BarChart {...shared} {...axis(formatShort)} {...bars(tokens)} />
    case 'latency': {
      const drawn = lines(percentiles)
      return (
        <LineChart
          {...shared}
          {...axis(formatSeconds)}
          {...drawn}
          connectNulls={false}
          lineProps={(line) => ({ ...drawn.lineProps(line), dot: lonePoint(points, line.name as Percentile) })}
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
            referenceLines={changeLines(changes, points, isNarrow, priceChangeText)}
            h={height - differenceHeight}
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
            barChartProps={{ ...chartProps, margin: { ...chartMargin, bottom: 10 } }}
            yAxisProps={{ width: 64, tickFormatter: formatUsdShort, tickCount: 3, interval: 0 }}
            series={[{ name: 'variance', label: 'Difference', color: 'orange.6' }]}
          />
        </>
      )
  }
}

/** Draws a vertical line for each change. Its label is on the side with space, and on a phone it has names only. */
function changeLines(
  changes: readonly MarkedChange[],
  points: readonly Point[],
  isNarrow: boolean | undefined,
  textOf: (change: MarkedChange) => string,
) {
  return changes.map((change) => {
    const isLate = points.findIndex(({ label }) => label === change.label) > points.length / 2
    return {
      ...{ x: change.label, color: priceChange.color, strokeDasharray: priceChange.strokeDasharray ?? '' },
      ...(changes.length <= labelledChangesMax && {
        label: { value: isNarrow ? change.names.join(', ') : textOf(change), fill: 'currentColor', fontSize: 11 },
      }),
      labelPosition: isLate ? ('insideTopRight' as const) : ('insideTopLeft' as const),
    }
  })
}
