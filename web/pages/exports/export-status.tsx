import { Badge } from '@mantine/core'
import {
  IconAlertTriangle,
  IconBan,
  IconCircleCheck,
  IconClock,
  IconHourglassEmpty,
  IconLoader2,
} from '@tabler/icons-react'
import type { ExportJob } from './export-job.ts'

const looks = {
  queued: { label: 'Waiting', color: 'gray', Icon: IconClock },
  running: { label: 'Running', color: 'blue', Icon: IconLoader2 },
  completed: { label: 'Completed', color: 'seal', Icon: IconCircleCheck },
  failed: { label: 'Failed', color: 'red', Icon: IconAlertTriangle },
  cancelled: { label: 'Cancelled', color: 'gray', Icon: IconBan },
  expired: { label: 'Expired', color: 'gray', Icon: IconHourglassEmpty },
}

export function ExportStatus({ status }: Pick<ExportJob, 'status'>) {
  const { label, color, Icon } = looks[status]
  return (
    <Badge variant="light" color={color} leftSection={<Icon size={13} aria-hidden />}>
      {label}
    </Badge>
  )
}
