import { Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { LinkText } from '../../components/link-text.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { nothing } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { formatHealthCount, HealthBadge } from './endpoint-health.tsx'
import type { Webhook } from './webhook-form.ts'

/** Shows the first kind in full, and the number of the others below it. */
function Events({ webhook: { events, alerts = [] }, all }: { webhook: Webhook; all: string }) {
  const [first, ...others] = events
  const more = [
    others.length > 0 && `${others.length} more`,
    alerts.length > 0 && `${alerts.length} ${alerts.length === 1 ? 'alert rule' : 'alert rules'}`,
  ].filter(Boolean)
  return (
    <span title={all}>
      <Text size="sm" truncate>
        {first ?? (more.length > 0 ? more.join(', ') : nothing)}
      </Text>
      {first && more.length > 0 && (
        <Text size="xs" c="dimmed" truncate>
          {`+ ${more.join(', ')}`}
        </Text>
      )}
    </span>
  )
}

const column = columnsOf<Webhook>()
const columns = column.columns([
  column.accessor('url', {
    header: 'Endpoint',
    meta: { grow: true },
    cell: ({ row: { original } }) => (
      <>
        <LinkText
          to="/webhooks/$webhookId"
          params={{ webhookId: original.webhook_id }}
          fw={600}
          size="sm"
          title={original.url}
        >
          {original.url}
        </LinkText>
        {original.description && (
          <Text size="xs" c="dimmed" truncate>
            {original.description}
          </Text>
        )}
      </>
    ),
  }),
  column.accessor('health.status', {
    id: 'health',
    header: 'Health',
    size: 150,
    cell: ({ row: { original } }) => <HealthBadge status={original.health.status} />,
  }),
  column.accessor((row) => row.events.join(', '), {
    id: 'events',
    header: 'Events',
    size: 230,
    meta: { from: 'md' },
    cell: ({ row: { original }, getValue }) => <Events webhook={original} all={getValue()} />,
  }),
  column.accessor('health.pending', {
    id: 'pending',
    header: 'Waiting',
    size: 90,
    meta: { align: 'right', from: 'sm' },
    cell: ({ getValue }) => formatHealthCount(getValue()),
  }),
  column.accessor('health.dead', {
    id: 'dead',
    header: 'Failed permanently',
    size: 165,
    meta: { align: 'right', from: 'sm' },
    cell: ({ getValue }) => formatHealthCount(getValue()),
  }),
  column.accessor((row) => row.health.last_delivered_at, {
    id: 'last',
    header: 'Last delivered',
    size: 150,
    meta: { from: 'lg' },
    cell: ({ getValue }) => {
      const iso = getValue()
      return iso ? <TimeText iso={iso} form="ago" /> : nothing
    },
  }),
])

/** Shows the endpoints of the tenant with their health. */
export function EndpointsTable({ webhooks }: { webhooks: readonly Webhook[] }) {
  const navigate = useNavigate()
  return (
    <DataTable
      label="Endpoints"
      rows={webhooks}
      columns={columns}
      rowId={({ webhook_id }) => webhook_id}
      rowHeight={56}
      onOpen={({ webhook_id }) => void navigate({ to: '/webhooks/$webhookId', params: { webhookId: webhook_id } })}
    />
  )
}
