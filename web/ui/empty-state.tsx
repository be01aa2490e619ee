import { Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconInbox } from '@tabler/icons-react'
import type { ComponentType, ReactNode } from 'react'

interface EmptyStateProps {
  title: string
  /** Why it is empty, and how to fill it. */
  children: ReactNode
  /** The button for that action. */
  action?: ReactNode
  icon?: ComponentType<{ size?: number }>
}

/** Shows that there is no content yet. */
export function EmptyState({ title, children, action, icon: Icon = IconInbox }: EmptyStateProps) {
  return (
    <Stack align="center" gap="xs" py="xl" px="md" ta="center">
      <ThemeIcon variant="light" size={48} radius="xl" aria-hidden>
        <Icon size={26} />
      </ThemeIcon>
      <Title order={2} size="h3">
        {title}
      </Title>
      <Text c="dimmed" size="sm" maw="32rem">
        {children}
      </Text>
      {action}
    </Stack>
  )
}
