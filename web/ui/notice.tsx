import { Alert, Stack, Text } from '@mantine/core'
import { IconAlertOctagon, IconAlertTriangle, IconCircleCheck, IconInfoCircle, IconShieldX } from '@tabler/icons-react'
import type { ReactNode } from 'react'

const kinds = {
  info: { color: 'blue', Icon: IconInfoCircle },
  good: { color: 'seal', Icon: IconCircleCheck },
  warning: { color: 'orange', Icon: IconAlertTriangle },
  danger: { color: 'red', Icon: IconAlertOctagon },
  /** Of verification only: something is not as it was written. */
  tampered: { color: 'red', Icon: IconShieldX },
}

interface NoticeProps {
  kind: keyof typeof kinds
  title: string
  children?: ReactNode
  /** What to do next: buttons or links. */
  actions?: ReactNode
  /** Read out at once: for what just happened. */
  urgent?: boolean
}

/** Something the reader should know, said in its place. */
export function Notice({ kind, title, children, actions, urgent = false }: NoticeProps) {
  const { color, Icon } = kinds[kind]
  const isShort = !children && !actions
  return (
    <Alert
      variant="light"
      color={color}
      icon={<Icon aria-hidden />}
      title={title}
      role={urgent ? 'alert' : 'note'}
      styles={{ title: { color: 'var(--mantine-color-text)', ...(isShort && { marginBottom: 0 }) } }}
    >
      {!isShort && (
        <Stack gap="xs" align="flex-start">
          {typeof children === 'string' ? <Text size="sm">{children}</Text> : children}
          {actions}
        </Stack>
      )}
    </Alert>
  )
}
