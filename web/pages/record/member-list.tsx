import { Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

export interface Member {
  name: string
  value: ReactNode
}

/** Names and values of a record, one below the other; what is not there is left out. */
export function MemberList({ members }: { members: readonly Member[] }) {
  const shown = members.filter(({ value }) => value !== undefined && value !== null && value !== '')
  return (
    <Stack gap={8} component="dl" m={0}>
      {shown.map(({ name, value }) => (
        <Group key={name} gap="sm" align="flex-start" wrap="nowrap">
          <Text component="dt" size="sm" c="dimmed" w={{ base: 104, sm: 136 }} flex="none">
            {name}
          </Text>
          <Text component="dd" size="sm" m={0} miw={0} flex={1} style={{ overflowWrap: 'anywhere' }}>
            {value}
          </Text>
        </Group>
      ))}
    </Stack>
  )
}
