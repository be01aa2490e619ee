import { Text } from '@mantine/core'
import { IconEraser } from '@tabler/icons-react'
import type { RecordType } from '../../../contract/literals.ts'
import { recordTypes } from '../../../contract/literals.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { RecordTypeBadge } from '../../components/record-type.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { detail, type GovernanceEvent, recordIdOf } from './governance-event.ts'
import { useEvents } from './use-events.ts'

const column = columnsOf<GovernanceEvent>()

/** Shows the type of the record in the event of a purge or erasure. */
export function DeletedRecordType({ event }: { event: GovernanceEvent }) {
  const type = detail(event, 'record_type') as RecordType | undefined
  return type && recordTypes.includes(type) ? <RecordTypeBadge type={type} /> : null
}

const columns = column.columns([
  column.display({
    id: 'record',
    header: 'Record',
    size: 320,
    cell: ({ row }) => (
      <Text size="sm" ff="monospace" truncate>
        {recordIdOf(row.original)}
      </Text>
    ),
  }),
  column.display({
    id: 'type',
    header: 'Type',
    size: 170,
    meta: { from: 'md' },
    cell: ({ row }) => <DeletedRecordType event={row.original} />,
  }),
  column.accessor('created_at', {
    id: 'erased',
    header: 'Erased',
    size: 205,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <TimeText iso={getValue()} />,
  }),
  column.display({
    id: 'reason',
    header: 'Why it was purged',
    meta: { from: 'lg', grow: true },
    cell: ({ row }) => (
      <Text size="sm" c="dimmed" truncate>
        {detail(row.original, 'reason')}
      </Text>
    ),
  }),
])

interface ErasedRecordsProps {
  openId: string | undefined
  onOpen(recordId: string | undefined): void
}

/** Lists erased records, by the events of their erasure. */
export function ErasedRecords({ openId, onOpen }: ErasedRecordsProps) {
  const { query, events, more } = useEvents({ event_kind: 'hub.record_hard_deleted' })
  return (
    <QueryBoundary query={query} what="erasures">
      {() =>
        events.length === 0 ? (
          <EmptyState title="Nothing was erased yet" icon={IconEraser}>
            Purged records are erased when their recovery period is over, and then stand here with their certificates.
          </EmptyState>
        ) : (
          <DataTable
            label="Erased records, latest first"
            rows={events}
            columns={columns}
            rowId={(event) => recordIdOf(event) ?? event.record_id}
            openId={openId}
            onOpen={(event) => onOpen(recordIdOf(event))}
            more={more}
          />
        )
      }
    </QueryBoundary>
  )
}
