import { ChartTooltip } from '@mantine/charts'
import type { LineSeries } from './line-legend.tsx'
import type { Point } from './points.ts'
import type { TrendChartKind } from './trend-chart.tsx'

/** The line of the previous period, by chart. */
export const previousLines: Record<TrendChartKind, LineSeries> = {
  usage: previousLine('previousInvocations', 'Previous period'),
  latency: previousLine('previousP95', 'Previous p95'),
  cost: previousLine('previousCost', 'Previous reported'),
  tokens: previousLine('previousTokens', 'Previous period'),
}

function previousLine(name: keyof Point, label: string): LineSeries {
  return { name, label, color: 'gray.6', strokeWidth: 1.5, strokeDasharray: '4 4' }
}

interface Pointed {
  label?: string | number | undefined
  payload?: readonly { payload?: Point }[] | undefined
}

/** Returns the tooltip of a chart. It names the hour or day of the previous period beside its value. */
export function tooltipOf(
  series: readonly Pick<LineSeries, 'name' | 'label'>[],
  previous: LineSeries,
  format: (value: number) => string,
) {
  return {
    content: ({ label, payload }: Pointed) => {
      const earlier = payload?.[0]?.payload?.previous
      const named = series.map(({ name, label: plain }) => ({
        ...{ name, color: '' },
        label: name === previous.name && earlier ? `${plain} (${earlier})` : plain,
      }))
      return <ChartTooltip label={label} payload={payload} series={named} valueFormatter={format} />
    },
  }
}
