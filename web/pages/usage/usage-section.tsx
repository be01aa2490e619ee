import { Group, Paper, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

interface UsageSectionProps {
  title: string
  /** A link to all entries. */
  more?: ReactNode
  children: ReactNode
}

/** Shows a titled part of the page of a skill, person, model or archetype. */
export function UsageSection({ title, more, children }: UsageSectionProps) {
  const id = useId()
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={id}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h3" id={id}>
          {title}
        </Title>
        {more}
      </Group>
      {children}
    </Paper>
  )
}
