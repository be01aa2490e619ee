import { Text } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useMemo } from 'react'
import { ActorName } from '../../components/actor-name.tsx'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { DeletedRecordType } from './erased-records.tsx'
import { detail, type GovernanceEvent, recordIdOf } from './governance-event.ts'
import { PurgeState } from './purge-state.tsx'
import { useEvents } from './use-events.ts'

const column = columnsOf<GovernanceEvent>()
const columns = column.columns([
  column.display({
    id: 'record',
    header: 'Record',
    size: 134,
    cell: ({ row }) => {
      const recordId = recordIdOf(row.original) ?? ''
      return (
        <LinkText to="/records/$recordId" params={{ recordId }} size="sm" ff="monospace" title={recordId}>
          {`…${recordId.slice(-12)}`}
        </LinkText>
      )
    },
  }),
  column.display({
    id: 'type',
    header: 'Type',
    size: 170,
    meta: { from: 'md' },
    cell: ({ row }) => <DeletedRecordType event={row.original} />,
  }),
  column.display({
    id: 'state',
    header: 'State now',
    size: 222,
    cell: ({ row }) => <PurgeState event={row.original} />,
  }),
  column.accessor('actor', {
    id: 'who',
    header: 'Purged by',
    size: 160,
    meta: { from: 'lg' },
    cell: ({ getValue }) => <ActorName id={getValue()} />,
  }),
  column.accessor('created_at', {
    id: 'when',
    header: 'Purged',
    size: 130,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <TimeText iso={getValue()} form="ago" />,
  }),
  column.display({
    id: 'reason',
    header: 'Why',
    meta: { from: 'lg', grow: true },
    cell: ({ row }) => (
      <Text size="sm" c="dimmed" truncate>
        {detail(row.original, 'reason')}
      </Text>
    ),
  }),
])

/** Lists purged records, latest first, with their present state. A record that was purged twice appears once. */
export function PurgedRecords() {
  const { query, events, more } = useEvents({ event_kind: 'hub.record_purged' })
  const latest = useMemo(() => {
    const bySubject = new Map<string, GovernanceEvent>()
    for (const event of events) if (event.subject && !bySubject.has(event.subject)) bySubject.set(event.subject, event)
    return [...bySubject.values()]
  }, [events])
  return (
    <QueryBoundary query={query} what="purges">
      {() =>
        latest.length === 0 ? (
          <EmptyState title="Nothing was purged yet" icon={IconTrash}>
            Administrators purge records in the records explorer, and retention rules purge those that are too old.
          </EmptyState>
        ) : (
          <DataTable
            label="Purged records, latest first"
            rows={latest}
            columns={columns}
            rowId={({ record_id }) => record_id}
            more={more}
          />
        )
      }
    </QueryBoundary>
  )
}
