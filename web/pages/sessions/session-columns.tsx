import { Text } from '@mantine/core'
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
const right = { ...plain, meta: { align: 'right' as const } }

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

/** Shows the session, and below it what a narrower window has no column for. */
function SessionCell({ session: { session_id, skill_ids, user_ids } }: { session: TelemetrySession }) {
  return (
    <>
      <Text size="sm" truncate>
        <CellLink href={`/sessions/${encodeURIComponent(session_id)}`} title={session_id}>
          {session_id}
        </CellLink>
      </Text>
      <Text size="xs" truncate hiddenFrom="sm">
        <FirstAndMore group="skill" ids={skill_ids} />
      </Text>
      <Text size="xs" c="dimmed" truncate hiddenFrom="xl">
        <FirstAndMore group="user" ids={user_ids} />
      </Text>
    </>
  )
}

const stepsOf = ({ events, is_partial }: TelemetrySession) => `${formatCount(events)}${is_partial ? '+' : ''}`

/** Returns the height of a row, in pixels, by the lines of {@link SessionCell}. */
export const sessionRow = { base: 76, sm: 56, xl: 44 }

export const sessionColumns = column.columns([
  column.accessor('session_id', {
    header: 'Session',
    size: 130,
    ...plain,
    meta: { grow: true },
    cell: ({ row }) => <SessionCell session={row.original} />,
  }),
  column.accessor('skill_ids', {
    id: 'skills',
    header: 'First skill',
    size: 200,
    ...plain,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <FirstAndMore group="skill" ids={getValue()} />,
  }),
  column.accessor('user_ids', {
    id: 'users',
    header: 'User',
    size: 225,
    ...plain,
    meta: { from: 'xl' },
    cell: ({ getValue }) => <FirstAndMore group="user" ids={getValue()} />,
  }),
  column.accessor('started_at', {
    header: 'Started',
    size: 170,
    ...plain,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <TimeText iso={getValue()} form="minute" />,
  }),
  column.accessor((row) => new Date(row.ended_at).getTime() - new Date(row.started_at).getTime(), {
    id: 'duration',
    header: 'Duration',
    ...right,
    size: 120,
    meta: { ...right.meta, from: 'lg' },
    cell: ({ getValue }) => formatMs(getValue()),
  }),
  column.accessor('events', {
    header: 'Steps',
    ...right,
    size: 65,
    meta: { ...right.meta, from: 'sm' },
    cell: ({ row }) => stepsOf(row.original),
  }),
  column.accessor('failures', {
    header: 'Failed',
    ...right,
    size: 75,
    meta: { ...right.meta, from: 'xl' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor((row) => row.tokens_in + row.tokens_out, {
    id: 'tokens',
    header: 'Tokens',
    ...right,
    size: 95,
    meta: { ...right.meta, from: 'xxl' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor('cost_usd_estimate', {
    header: 'Reported cost',
    ...right,
    size: 125,
    cell: ({ getValue, row: { original } }) => (
      <>
        <UsdText value={getValue()} />
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {`${stepsOf(original)} ${original.events === 1 ? 'step' : 'steps'}`}
        </Text>
        <Text size="xs" c="dimmed" truncate hiddenFrom="sm">
          <TimeText iso={original.started_at} form="ago" />
        </Text>
      </>
    ),
  }),
  column.accessor('cost_usd_computed', {
    header: 'Calculated cost',
    ...right,
    size: 140,
    meta: { ...right.meta, from: 'xxl' },
    cell: ({ getValue, row: { original } }) => (
      <UsdText value={original.unpriced === original.events ? undefined : getValue()} />
    ),
  }),
])
