import '@mantine/charts/styles.css'
import { LineChart } from '@mantine/charts'
import { formatUsd, formatUsdShort } from '../../ui/formats.ts'
import { chartMargin, sharedProps } from '../command-center/charts/chart-props.ts'
import { LineLegend, type LineSeries } from '../command-center/charts/line-legend.tsx'
import type { SpendPoint } from './budget-points.ts'

const series: LineSeries[] = [
  { name: 'spent', label: 'Spent', color: 'seal.6', strokeWidth: 2 },
  { name: 'forecast', label: 'Forecast', color: 'blue.6', strokeWidth: 1.5, strokeDasharray: '5 3' },
]
const amountLine: LineSeries = {
  ...{ name: 'amount', label: 'Budget', color: 'red.7', strokeWidth: 1, strokeDasharray: '2 3' },
}

/** Draws cost and forecast below the amount of a budget, in a separate script because of the chart library. */
export default function BudgetChart({
  points,
  amount,
  height,
}: {
  points: SpendPoint[]
  amount: number
  height: number
}) {
  const shared = sharedProps(points, height)
  const highest = Math.max(amount, ...points.map(({ spent = 0, forecast = 0 }) => Math.max(spent, forecast)))
  return (
    <LineChart
      {...shared}
      curveType="linear"
      withDots={false}
      connectNulls={false}
      series={series.map(({ strokeWidth: _, ...line }) => line)}
      lineProps={({ name }) => ({ strokeWidth: series.find((line) => line.name === name)?.strokeWidth })}
      legendProps={{ ...shared.legendProps, content: () => <LineLegend series={[...series, amountLine]} /> }}
      lineChartProps={{ margin: chartMargin }}
      yAxisProps={{ width: 64, tickFormatter: formatUsdShort, tickCount: 3, domain: [0, highest] }}
      referenceLines={[{ y: amount, color: amountLine.color, strokeDasharray: amountLine.strokeDasharray ?? '' }]}
      valueFormatter={formatUsd}
    />
  )
}
