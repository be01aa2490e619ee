import { Text } from '@mantine/core'
import { ActorName } from '../../components/actor-name.tsx'
import { DataTable, type DataTableProps } from '../../ui/data-table.tsx'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { inWords } from './changes.ts'
import { detail, type GovernanceEvent, isObject } from './governance-event.ts'
import { SubjectLink } from './subject-link.tsx'

const column = columnsOf<GovernanceEvent>()
const columns = column.columns([
  column.accessor('event_kind', {
    id: 'kind',
    header: 'Event',
    size: 225,
    cell: ({ row: { original: event } }) => (
      <>
        <Text size="sm" fw={500} truncate>
          {event.event_kind}
        </Text>
        <Text size="xs" c="dimmed" truncate hiddenFrom="md">
          <Text span inherit hiddenFrom="sm">
            <TimeText iso={event.created_at} />
            {' · '}
          </Text>
          <SubjectLink subject={event.subject} plain />
        </Text>
      </>
    ),
  }),
  column.accessor('created_at', {
    id: 'time',
    header: 'When',
    size: 205,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <TimeText iso={getValue()} />,
  }),
  column.accessor('subject', {
    id: 'subject',
    header: 'About',
    size: 240,
    meta: { from: 'md' },
    cell: ({ getValue }) => <SubjectLink subject={getValue()} />,
  }),
  column.accessor('actor', {
    id: 'actor',
    header: 'Who',
    size: 130,
    cell: ({ getValue }) => <ActorName id={getValue()} />,
  }),
  column.display({
    id: 'what',
    header: 'What',
    meta: { from: 'lg', grow: true },
    cell: ({ row }) => (
      <Text size="sm" c="dimmed" truncate>
        {gist(row.original)}
      </Text>
    ),
  }),
])

/** What stands out in the details, on one line. */
function gist(event: GovernanceEvent): string {
  const { before, after } = event.details
  const change = detail(event, 'change')?.replaceAll('_', ' ')
  const reason = detail(event, 'reason') ?? detail(event, 'name')
  const members = isObject(after)
    ? Object.entries(after)
        .filter(([name, value]) => !isObject(before) || JSON.stringify(before[name]) !== JSON.stringify(value))
        .map(([name, value]) => `${name} ${inWords(value)}`)
        .join(', ')
    : undefined
  return [change, reason, members].filter(Boolean).join(' · ')
}

type EventsTableProps = Pick<DataTableProps<GovernanceEvent>, 'openId' | 'onOpen' | 'more'> & {
  events: readonly GovernanceEvent[]
}

export function EventsTable({ events, ...rest }: EventsTableProps) {
  return (
    <DataTable
      label="Governance events, newest first"
      rows={events}
      columns={columns}
      rowId={({ record_id }) => record_id}
      {...rest}
    />
  )
}
