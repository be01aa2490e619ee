import { Badge } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconClock, IconPlayerPause } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { webhookHealthCountMax } from '../../../contract/limits.ts'
import { formatCount } from '../../ui/formats.ts'
import { TimeText } from '../../ui/time-text.tsx'
import type { Webhook } from './webhook-form.ts'

const looks = {
  ok: { label: 'Healthy', color: 'seal', Icon: IconCircleCheck },
  waiting: { label: 'Nothing sent yet', color: 'gray', Icon: IconClock },
  failing: { label: 'Failing', color: 'red', Icon: IconAlertTriangle },
  disabled: { label: 'Disabled', color: 'gray', Icon: IconPlayerPause },
} as const

/** Shows the health of an endpoint in a word. */
export function HealthBadge({ status }: { status: Webhook['health']['status'] }) {
  const { label, color, Icon } = looks[status]
  return (
    <Badge variant="light" color={color} leftSection={<Icon size={13} aria-hidden />}>
      {label}
    </Badge>
  )
}

const reasons = {
  by_hand: 'somebody disabled it',
  gone: 'its receiver answered 410: gone for good',
  failing: 'every attempt of 120 hours failed',
} as const

/** Shows why an endpoint is disabled or unhealthy; undefined if it is healthy. */
export function healthNote({ disabled_at, disabled_reason, health }: Webhook): ReactNode {
  if (disabled_at) {
    return (
      <>
        Disabled <TimeText iso={disabled_at} form="ago" />
        {disabled_reason && `: ${reasons[disabled_reason]}`}. It collects nothing new until it is enabled.
      </>
    )
  }
  if (health.overflowing_since) {
    return (
      <>
        Too much waits since <TimeText iso={health.overflowing_since} />: the oldest deliveries fail permanently.
      </>
    )
  }
  if (health.failing_since) {
    return (
      <>
        {`${formatCount(health.failures)} attempts in a row failed since `}
        <TimeText iso={health.failing_since} />. It is disabled when that lasts 120 hours.
      </>
    )
  }
  return undefined
}

/** Returns a count as text, up to the maximum that is counted. */
export function formatHealthCount(count: number): string {
  return count >= webhookHealthCountMax ? `${formatCount(webhookHealthCountMax)}+` : formatCount(count)
}
