import { Stack, Text, Title } from '@mantine/core'
import { type ApiResponse, api } from '../../api/api-client.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { formatCount } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { formatMetric, groupLabels, metricLabels } from './alert-labels.ts'

type Alert = ApiResponse<'listWebhookAlerts'>['items'][number]

const column = columnsOf<Alert>()
const columns = column.columns([
  column.accessor('key', {
    header: 'Of',
    size: 220,
    meta: { grow: true },
    cell: ({ row: { original } }) => (
      <span title={`${groupLabels[original.group_by]} ${original.key}`}>{original.key}</span>
    ),
  }),
  column.accessor('metric', {
    header: 'Measured',
    size: 190,
    meta: { from: 'sm' },
    cell: ({ getValue }) => metricLabels[getValue()],
  }),
  column.accessor('value', {
    header: 'Now',
    size: 130,
    meta: { align: 'right' },
    cell: ({ row: { original } }) => formatMetric(original.metric, original.value),
  }),
  column.accessor('threshold', {
    header: 'Trigger above',
    size: 130,
    meta: { align: 'right', from: 'sm' },
    cell: ({ row: { original } }) => formatMetric(original.metric, original.threshold),
  }),
  column.accessor('invocations', {
    header: 'Invocations',
    size: 110,
    meta: { align: 'right', from: 'lg' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor('opened_at', {
    header: 'Open since',
    size: 240,
    meta: { from: 'md' },
    cell: ({ row: { original } }) => (
      <>
        <TimeText iso={original.opened_at} form="ago" />
        {original.recovering_since && ', recovering'}
      </>
    ),
  }),
])

/** Shows the open alerts of an endpoint's rules. Resolved ones are among its deliveries. */
export function OpenAlerts({ webhookId }: { webhookId: string }) {
  const alerts = api.useQuery(
    'get',
    '/api/v1/webhooks/{webhook_id}/alerts',
    { params: { path: { webhook_id: webhookId }, query: { limit: 1000 } } },
    { refetchInterval: 20_000 },
  )
  return (
    <Stack component="section" aria-labelledby="open-alerts" gap="sm">
      <Title order={2} id="open-alerts">
        Open alerts
      </Title>
      <QueryBoundary query={alerts} what="alerts">
        {({ items }) =>
          items.length > 0 ? (
            <DataTable
              label="Open alerts"
              rows={items}
              columns={columns}
              rowId={({ alert_id }) => alert_id}
              maxHeight="20rem"
            />
          ) : (
            <Text size="sm" c="dimmed">
              None is open: no skill, person or archetype exceeds a rule.
            </Text>
          )
        }
      </QueryBoundary>
      <Text size="sm" c="dimmed">
        Those that are over are among the deliveries:{' '}
        <LinkText
          to="/webhooks/$webhookId"
          params={{ webhookId }}
          search={{ kind: 'skill.alert_closed' }}
          underline="always"
        >
          closed alerts
        </LinkText>
      </Text>
    </Stack>
  )
}
