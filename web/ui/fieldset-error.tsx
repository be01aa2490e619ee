import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Shows the error of several fields together; announces it. A form leads to it by `data-fault`. */
export function FieldsetError({ children }: { children: ReactNode }) {
  if (!children) return null
  return (
    <Text size="sm" c="var(--mantine-color-error)" role="alert" data-fault>
      {children}
    </Text>
  )
}
