import { Alert, Stack, Text } from '@mantine/core'
import { IconAlertOctagon, IconAlertTriangle, IconCircleCheck, IconInfoCircle, IconShieldX } from '@tabler/icons-react'
import type { ReactNode } from 'react'

const kinds = {
  info: { color: 'blue', Icon: IconInfoCircle },
  good: { color: 'seal', Icon: IconCircleCheck },
  warning: { color: 'orange', Icon: IconAlertTriangle },
  danger: { color: 'red', Icon: IconAlertOctagon },
  /** For verification only: the content differs from what was sealed. */
  tampered: { color: 'red', Icon: IconShieldX },
}

interface NoticeProps {
  kind: keyof typeof kinds
  title: string
  children?: ReactNode
  /** Buttons or links for the next step. */
  actions?: ReactNode
  /** True to announce it at once, for a result that just happened. */
  urgent?: boolean
}

/** Shows information inside a page. */
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
