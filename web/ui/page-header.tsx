import { Box, Group, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'

interface PageHeaderProps {
  title: string
  /** A link above the title to the list that contains this page's object (`BackLink`). */
  back?: ReactNode
  /** A button that explains the concept of the title (`Help`). */
  help?: ReactNode
  /** The purpose of the page in one sentence. */
  about?: ReactNode
  /** Buttons for the whole page, at its right. */
  actions?: ReactNode
}

let isFirst = true

/**
 * Shows the header of a page. Navigation moves the focus to its title, so that the keyboard and screen readers follow.
 */
export function PageHeader({ title, back, help, about, actions }: PageHeaderProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Org-Memory Hub`
  }, [title])
  useEffect(() => {
    // An open dialog keeps the focus, for example if a link opens both.
    const inDialog = document.querySelector('[aria-modal="true"]') !== null
    if (!isFirst && !inDialog) heading.current?.focus({ preventScroll: true })
    isFirst = false
  }, [])
  return (
    <Group justify="space-between" align="flex-start" mb="lg" gap="md">
      <Box flex="1 1 16rem" miw={0}>
        {back && <Box mb={4}>{back}</Box>}
        <Group gap={4} wrap="nowrap">
          <Title order={1} ref={heading} tabIndex={-1} className="page-title" miw={0}>
            {title}
          </Title>
          {help}
        </Group>
        {about && (
          <Text c="dimmed" size="sm" mt={4} maw="44rem">
            {about}
          </Text>
        )}
      </Box>
      {actions && <Group gap="xs">{actions}</Group>}
    </Group>
  )
}
