import { Text } from '@mantine/core'
import type { ApiResponse } from '../../api/api-client.ts'
import { DataTable, type DataTableProps } from '../../ui/data-table.tsx'
import { formatMs, nothing } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { DeliveryStatusBadge } from './delivery-status.tsx'

export type Delivery = ApiResponse<'listDeliveries'>['items'][number]

const column = columnsOf<Delivery>()
const columns = column.columns([
  column.accessor('kind', {
    header: 'Message',
    size: 190,
    meta: { grow: true },
    cell: ({ row: { original } }) => (
      <>
        <Text size="sm" truncate title={original.kind}>
          {original.kind}
        </Text>
        <Text size="xs" c="dimmed" truncate hiddenFrom="sm">
          <TimeText iso={original.created_at} />
          {` · no. ${original.sequence}`}
        </Text>
      </>
    ),
  }),
  column.accessor('status', {
    header: 'Status',
    size: 165,
    cell: ({ getValue }) => <DeliveryStatusBadge status={getValue()} />,
  }),
  column.accessor((row) => row.last_attempt, {
    id: 'answer',
    header: 'Last answer',
    size: 120,
    meta: { from: 'md' },
    cell: ({ getValue }) => {
      const attempt = getValue()
      return attempt?.response?.status ?? attempt?.error?.code ?? nothing
    },
  }),
  column.accessor((row) => row.last_attempt?.duration_ms, {
    id: 'latency',
    header: 'Duration',
    size: 95,
    meta: { align: 'right', from: 'md' },
    cell: ({ getValue }) => formatMs(getValue()),
  }),
  column.accessor('attempt_count', { header: 'Attempts', size: 90, meta: { align: 'right', from: 'md' } }),
  column.accessor('sequence', { header: 'No.', size: 65, meta: { align: 'right', from: 'lg' } }),
  column.accessor('created_at', {
    header: 'Queued',
    size: 190,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <TimeText iso={getValue()} />,
  }),
])

/** Shows deliveries to an endpoint, the newest first. */
export function DeliveriesTable(props: Pick<DataTableProps<Delivery>, 'rows' | 'onOpen' | 'openId' | 'more'>) {
  return <DataTable label="Deliveries" columns={columns} rowId={({ delivery_id }) => delivery_id} {...props} />
}
