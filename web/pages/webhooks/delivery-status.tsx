import { Badge } from '@mantine/core'
import { IconCheck, IconClock, IconRefreshAlert, IconX } from '@tabler/icons-react'
import type { DeliveryStatus } from '../../../contract/webhook-deliveries.ts'
import { statusLabels } from './delivery-labels.ts'

const looks = {
  pending: { color: 'blue', Icon: IconClock },
  delivered: { color: 'seal', Icon: IconCheck },
  failed: { color: 'orange', Icon: IconRefreshAlert },
  dead: { color: 'red', Icon: IconX },
}

/** Shows the status of a delivery as text with a sign and a colour. */
export function DeliveryStatusBadge({ status }: { status: DeliveryStatus }) {
  const { color, Icon } = looks[status]
  return (
    <Badge variant="light" color={color} leftSection={<Icon size={13} aria-hidden />}>
      {statusLabels[status]}
    </Badge>
  )
}
