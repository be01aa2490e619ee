import { Badge, Text } from '@mantine/core'
import { IconLock, IconLockOpen } from '@tabler/icons-react'
import type { ApiResponse } from '../../../api/api-client.ts'
import { ActorName } from '../../../components/actor-name.tsx'
import { describeRecordFilter } from '../../../components/record-filter.ts'
import { capitalised } from '../../../ui/capitalised.ts'
import { DataTable, type DataTableProps } from '../../../ui/data-table.tsx'
import { formatCount } from '../../../ui/formats.ts'
import { columnsOf } from '../../../ui/table-columns.ts'
import { TimeText } from '../../../ui/time-text.tsx'

export type Hold = ApiResponse<'listHolds'>['items'][number]

export function HoldState({ active }: { active: boolean }) {
  return active ? (
    <Badge variant="light" leftSection={<IconLock size={13} aria-hidden />}>
      In force
    </Badge>
  ) : (
    <Badge variant="light" color="gray" leftSection={<IconLockOpen size={13} aria-hidden />}>
      Released
    </Badge>
  )
}

/** Returns the scope of a hold as text. */
export function scopeOf({ filter, record_count }: Pick<Hold, 'filter' | 'record_count'>): string {
  if (filter) return capitalised(describeRecordFilter(filter))
  return record_count === 1 ? '1 record' : `${formatCount(record_count)} records`
}

const column = columnsOf<Hold>()
const columns = column.columns([
  column.accessor('name', {
    id: 'name',
    header: 'Name',
    size: 190,
    meta: { grow: true },
    cell: ({ row: { original } }) => (
      <>
        <Text size="sm" fw={500} truncate>
          {original.name}
        </Text>
        <Text size="xs" c="dimmed" truncate title={original.reason}>
          {original.reason}
        </Text>
      </>
    ),
  }),
  column.accessor('active', {
    id: 'state',
    header: 'State',
    size: 120,
    cell: ({ getValue }) => <HoldState active={getValue()} />,
  }),
  column.display({
    id: 'over',
    header: 'Scope',
    size: 280,
    meta: { from: 'sm' },
    cell: ({ row }) => scopeOf(row.original),
  }),
  column.accessor('created_by', {
    id: 'by',
    header: 'Placed by',
    size: 190,
    meta: { from: 'lg' },
    cell: ({ getValue }) => <ActorName id={getValue()} />,
  }),
  column.accessor('created_at', {
    id: 'since',
    header: 'Since',
    size: 130,
    meta: { from: 'md' },
    cell: ({ getValue }) => <TimeText iso={getValue()} form="date" />,
  }),
])

type HoldsTableProps = Pick<DataTableProps<Hold>, 'openId' | 'onOpen' | 'more'> & { holds: readonly Hold[] }

export function HoldsTable({ holds, ...rest }: HoldsTableProps) {
  return (
    <DataTable
      label="Legal holds"
      rows={holds}
      columns={columns}
      rowId={({ hold_id }) => hold_id}
      rowHeight={56}
      {...rest}
    />
  )
}
