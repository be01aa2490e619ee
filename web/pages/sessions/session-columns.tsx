import type { ApiResponse } from '../../api/api-client.ts'
import { CellLink } from '../../components/cell-link.tsx'
import type { UsageGroup } from '../../components/usage-address.ts'
import { UsageLink } from '../../components/usage-link.tsx'
import { formatCount, formatMs } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { UsdText } from '../../ui/usd-text.tsx'

type TelemetrySession = ApiResponse<'listTelemetrySessions'>['items'][number]

const column = columnsOf<TelemetrySession>()
const plain = { enableSorting: false } as const
const right = { ...plain, size: 110, meta: { align: 'right' as const } }

/** Shows several names: a link to the first, and the number of the others. */
function FirstAndMore({ group, ids }: { group: UsageGroup; ids: readonly string[] }) {
  const [first, ...others] = ids
  return (
    <span title={ids.join(', ')}>
      <UsageLink group={group} id={first} />
      {others.length > 0 && ` +${others.length}`}
    </span>
  )
}

export const sessionColumns = column.columns([
  column.accessor('session_id', {
    header: 'Session',
    size: 190,
    ...plain,
    meta: { grow: true },
    cell: ({ getValue }) => (
      <CellLink href={`/sessions/${encodeURIComponent(getValue())}`} title={getValue()}>
        {getValue()}
      </CellLink>
    ),
  }),
  column.accessor('started_at', {
    header: 'Started',
    size: 190,
    ...plain,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <TimeText iso={getValue()} />,
  }),
  column.accessor((row) => new Date(row.ended_at).getTime() - new Date(row.started_at).getTime(), {
    id: 'duration',
    header: 'Duration',
    ...right,
    meta: { ...right.meta, from: 'md' },
    cell: ({ getValue }) => formatMs(getValue()),
  }),
  column.accessor('events', {
    header: 'Steps',
    ...right,
    size: 90,
    cell: ({ getValue, row: { original } }) => `${formatCount(getValue())}${original.is_partial ? '+' : ''}`,
  }),
  column.accessor('failures', {
    header: 'Failed',
    ...right,
    size: 80,
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor((row) => row.tokens_in + row.tokens_out, {
    id: 'tokens',
    header: 'Tokens',
    ...right,
    meta: { ...right.meta, from: 'lg' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor('cost_usd_estimate', {
    header: 'Reported cost',
    ...right,
    size: 130,
    meta: { ...right.meta, from: 'md' },
    cell: ({ getValue }) => <UsdText value={getValue()} />,
  }),
  column.accessor('cost_usd_computed', {
    header: 'Calculated cost',
    ...right,
    size: 140,
    meta: { ...right.meta, from: 'xl' },
    cell: ({ getValue, row: { original } }) => (
      <UsdText value={original.unpriced === original.events ? undefined : getValue()} />
    ),
  }),
  column.accessor('skill_ids', {
    id: 'skills',
    header: 'Skills',
    size: 160,
    ...plain,
    meta: { from: 'lg' },
    cell: ({ getValue }) => <FirstAndMore group="skill" ids={getValue()} />,
  }),
  column.accessor('user_ids', {
    id: 'users',
    header: 'Users',
    size: 190,
    ...plain,
    meta: { from: 'xl' },
    cell: ({ getValue }) => <FirstAndMore group="user" ids={getValue()} />,
  }),
])
