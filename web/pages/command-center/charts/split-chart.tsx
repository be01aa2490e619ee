import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { formatUsd, formatUsdShort } from '../../../ui/formats.ts'
import type { Span } from '../ranges.ts'
import { chartMargin, sharedProps } from './chart-props.ts'
import type { CostSplit } from './cost-split.ts'
import { useDragZoom } from './use-drag-zoom.tsx'

const colors = ['seal.6', 'blue.6', 'orange.6', 'grape.6', 'cyan.7', 'gray.5']

interface SplitChartProps extends CostSplit {
  height: number
  /** The end of the range, in milliseconds since 1970. */
  end: number
  onZoom?: ((span: Span) => void) | undefined
}

/** Draws the cost of each hour or day as a stack of its keys. */
export default function SplitChart({ points, series, height, end, onZoom }: SplitChartProps) {
  const { handlers, selection } = useDragZoom(points, end, onZoom)
  return (
    <BarChart
      {...sharedProps(points, height)}
      type="stacked"
      barChartProps={{ margin: chartMargin, ...handlers }}
      yAxisProps={{ width: 64, tickFormatter: formatUsdShort }}
      valueFormatter={formatUsd}
      series={series.map(({ name, label }, index) => ({ name, label, color: colors[index % colors.length]! }))}
    >
      {selection}
    </BarChart>
  )
}
