import { Box, Group, Paper, SegmentedControl, Text, Title, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'

interface ChartFrameProps {
  title: string
  /** What the chart says in one sentence, for those who do not see it. */
  summary: string
  /** The same figures as a table. */
  table: ReactNode
  /** Further buttons: export. */
  actions?: ReactNode
  children: ReactNode
}

/** A chart with a readable table beside it: the reader chooses which of the two is shown. */
export function ChartFrame({ title, summary, table, actions, children }: ChartFrameProps) {
  const [form, setForm] = useState('chart')
  const id = useId()
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={id}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h3" id={id}>
          {title}
        </Title>
        <Group gap="xs">
          {actions}
          <SegmentedControl
            size="xs"
            aria-label={`${title}: shown as`}
            value={form}
            onChange={setForm}
            data={[
              { value: 'chart', label: 'Chart' },
              { value: 'table', label: 'Table' },
            ]}
          />
        </Group>
      </Group>
      {form === 'table' ? (
        table
      ) : (
        <Box role="figure" aria-label={summary}>
          <VisuallyHidden>
            <Text>{summary} The button Table shows the figures.</Text>
          </VisuallyHidden>
          {children}
        </Box>
      )}
    </Paper>
  )
}
