import { Anchor, Badge, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { UsageLink } from '../../components/usage-link.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatMs, formatUsdInFull } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { UsdText } from '../../ui/usd-text.tsx'
import type { LiveEvent } from './use-live-events.ts'

const column = columnsOf<LiveEvent>()
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })

const columns = column.columns([
  column.accessor((event) => event.ts, {
    id: 'ts',
    header: 'Time',
    cell: ({ row: { original } }) => (
      <Anchor component={Link} to={`/records/${original.record_id}`} size="sm" title={original.ts}>
        {isToday(original.ts) ? clock.format(new Date(original.ts)) : <TimeText iso={original.ts} form="date" />}
      </Anchor>
    ),
    size: 95,
  }),
  column.accessor((event) => event.success, {
    id: 'result',
    header: 'Result',
    cell: ({ row: { original } }) =>
      original.success ? (
        <Text size="sm" c="dimmed">
          OK
        </Text>
      ) : (
        <Badge color="red" variant="light" size="sm" title={original.error_code}>
          Failed
        </Badge>
      ),
    size: 80,
  }),
  column.accessor((event) => event.skill_id, {
    id: 'skill',
    header: 'Skill',
    cell: ({ row: { original } }) => <UsageLink group="skill" id={original.skill_id} />,
    size: 150,
    meta: { grow: true },
  }),
  column.accessor((event) => event.user_id, {
    id: 'user',
    header: 'User',
    cell: ({ row: { original } }) => <UsageLink group="user" id={original.user_id} />,
    size: 240,
    meta: { from: 'sm' },
  }),
  column.accessor((event) => event.llm_platform, {
    id: 'platform',
    header: 'Platform',
    size: 100,
    meta: { from: 'md' },
  }),
  column.accessor((event) => event.latency_ms, {
    id: 'latency',
    header: 'Latency',
    cell: ({ row: { original } }) => formatMs(original.latency_ms),
    size: 90,
    meta: { align: 'right' },
  }),
  column.accessor((event) => event.cost_usd_computed, {
    id: 'cost',
    header: 'Calculated',
    cell: ({ row: { original } }) =>
      original.cost_usd_computed === undefined ? (
        <Text span inherit c="dimmed" title={`Reported cost: ${formatUsdInFull(original.cost_usd_estimate)}`}>
          no price
        </Text>
      ) : (
        <UsdText value={original.cost_usd_computed} />
      ),
    size: 100,
    meta: { align: 'right', from: 'md' },
  }),
])

/** Shows the newest events, one a line. */
export function LiveRows({ events }: { events: LiveEvent[] }) {
  if (events.length === 0) {
    return <EmptyState title="No event yet">The next invocation appears here within two seconds.</EmptyState>
  }
  return (
    <DataTable
      label="Newest events"
      columns={columns}
      rows={events}
      rowId={({ record_id }) => record_id}
      maxHeight="22rem"
      rowHeight={36}
    />
  )
}

function isToday(ts: string): boolean {
  return new Date(ts).toDateString() === new Date().toDateString()
}
