import type { ApiResponse } from '../../api/api-client.ts'
import { formatCount } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'

export type RosterSync = ApiResponse<'listRosterSyncs'>['items'][number]

const statuses: Record<RosterSync['status'], string> = {
  queued: 'Waiting to begin',
  running: 'Running',
  awaiting_confirmation: 'Awaiting confirmation',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

const column = columnsOf<RosterSync>()
const count = { align: 'right' } as const

/** The columns with the changes of each sync. */
export const syncColumns = column.columns([
  column.accessor('created_at', {
    header: 'Began',
    meta: { grow: true },
    cell: ({ getValue }) => <TimeText iso={getValue()} />,
  }),
  column.accessor('status', { header: 'Status', size: 150, cell: ({ getValue }) => statuses[getValue()] }),
  column.accessor('added', { header: 'Added', size: 90, meta: count, cell: ({ getValue }) => formatCount(getValue()) }),
  column.accessor('updated', {
    header: 'Updated',
    size: 96,
    meta: { ...count, from: 'sm' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor('deactivated', {
    header: 'Deactivated',
    size: 116,
    meta: { ...count, from: 'sm' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor('unmatched', {
    header: 'Unmatched',
    size: 110,
    meta: { ...count, from: 'md' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor('skipped', {
    header: 'Skipped',
    size: 90,
    meta: { ...count, from: 'lg' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
])
