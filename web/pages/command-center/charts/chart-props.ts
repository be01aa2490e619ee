import styles from './trend-chart.module.css'

/** Reserves space for the labels at both ends of an axis. */
export const chartMargin = { top: 10, right: 6, bottom: 0, left: 0 }

/** Returns the properties that all charts over time share. */
export function sharedProps<Drawn extends { label: string; tick: string }>(points: Drawn[], height: number) {
  const ticks = new Map(points.map(({ label, tick }) => [label, tick]))
  return {
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
}
