import { Group, getThemeColor, Text, useMantineTheme } from '@mantine/core'

export interface LineSeries {
  name: string
  label: string
  color: string
  strokeDasharray?: string
  strokeWidth: number
  /** True for a vertical mark at one time instead of a line over time. */
  upright?: boolean
}

/** Shows the names of lines, each beside a sample: dashes and widths distinguish them, not only colours. */
export function LineLegend({ series }: { series: readonly LineSeries[] }) {
  const theme = useMantineTheme()
  return (
    <Group justify="flex-end" gap="md" pt={10}>
      {series.map(({ name, label, color, strokeDasharray, strokeWidth, upright }) => (
        <Group key={name} gap={7} wrap="nowrap">
          <svg width={upright ? 4 : 22} height={upright ? 14 : 6} aria-hidden="true">
            <line
              {...(upright ? { x1: 2, x2: 2, y1: 0, y2: 14 } : { x1: 0, x2: 22, y1: 3, y2: 3 })}
              {...{ strokeWidth, strokeDasharray }}
              stroke={getThemeColor(color, theme)}
            />
          </svg>
          <Text size="sm">{label}</Text>
        </Group>
      ))}
    </Group>
  )
}
