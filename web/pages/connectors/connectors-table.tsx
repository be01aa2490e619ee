import { Badge, Group } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconClock } from '@tabler/icons-react'
import type { ApiResponse } from '../../api/api-client.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'

export type Connector = ApiResponse<'listConnectors'>['items'][number]
export const connectorsPath = '/api/v1/llm/connectors'

export const healthWords: Record<
  Connector['health']['status'],
  { word: string; means: string; color: string; Icon: typeof IconCheck }
> = {
  ok: { word: 'Publishing', means: 'It took a publish within the last 60 seconds.', color: 'seal', Icon: IconCheck },
  waiting: { word: 'Waiting', means: 'Nothing was published to it yet.', color: 'blue', Icon: IconClock },
  failing: {
    word: 'Failing',
    means: 'The last attempt failed. It is tried again by itself.',
    color: 'red',
    Icon: IconAlertTriangle,
  },
  late: { word: 'Late', means: 'Its last publish is more than 60 seconds ago.', color: 'orange', Icon: IconClock },
}

const names: Record<string, string> = {
  claude: 'Claude',
  chatgpt: 'ChatGPT',
  gemini: 'Gemini',
  copilot: 'Copilot',
  slack: 'Slack',
}

/** Returns a platform's name for people; `custom:desk` is the custom platform desk. */
export const platformName = (platform: string) => names[platform] ?? platform.replace(/^custom:/, '')

export function HealthBadge({ status }: { status: Connector['health']['status'] }) {
  const { word, color, Icon } = healthWords[status]
  return (
    <Badge variant="light" color={color} leftSection={<Icon size={13} aria-hidden />}>
      {word}
    </Badge>
  )
}

const column = columnsOf<Connector>()
export const connectorColumns = column.columns([
  column.accessor('display_name', { header: 'Name', size: 190, meta: { grow: true } }),
  column.accessor('platform', {
    header: 'Platform',
    size: 130,
    meta: { from: 'sm' },
    cell: ({ getValue }) => platformName(getValue()),
  }),
  column.accessor('delivery', {
    header: 'Delivery',
    size: 140,
    meta: { from: 'md' },
    cell: ({ getValue }) => (getValue() === 'push' ? 'Push' : 'Pull'),
  }),
  column.accessor((connector) => connector.health.status, {
    id: 'health',
    header: 'Health',
    size: 130,
    cell: ({ getValue }) => <HealthBadge status={getValue()} />,
  }),
  column.accessor((connector) => connector.health.last_publish_at, {
    id: 'last_publish',
    header: 'Last publish',
    size: 130,
    meta: { from: 'sm' },
    cell: ({ getValue }) => {
      const at = getValue()
      return at ? <TimeText iso={at} form="ago" /> : 'never'
    },
  }),
  column.accessor((connector) => connector.health.error?.detail, {
    id: 'error',
    header: 'Last error',
    size: 260,
    meta: { from: 'lg' },
    cell: ({ getValue }) => (
      <Group gap={4} wrap="nowrap" title={getValue()}>
        {getValue() ?? '—'}
      </Group>
    ),
  }),
])
