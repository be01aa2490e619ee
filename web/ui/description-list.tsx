import { Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Shows names with their values, one below the other: a `dl`. */
export function DescriptionList({ children }: { children: ReactNode }) {
  return (
    <Stack gap={8} component="dl" m={0}>
      {children}
    </Stack>
  )
}

/** Shows one name and value; nothing without a value. */
export function DescriptionItem({ name, children }: { name: string; children: ReactNode }) {
  if (children === undefined || children === null || children === '') return null
  return (
    <Group gap="sm" align="flex-start" wrap="nowrap">
      <Text component="dt" size="sm" c="dimmed" w={{ base: 104, sm: 128 }} flex="none">
        {name}
      </Text>
      <Text component="dd" size="sm" m={0} miw={0} flex={1} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </Group>
  )
}
