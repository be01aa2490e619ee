import { Text, useMatches } from '@mantine/core'
import { ActorName } from '../../components/actor-name.tsx'
import { titleOfEvent } from '../../components/event-titles.ts'
import { DataTable, type DataTableProps } from '../../ui/data-table.tsx'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { describeEvent } from './event-labels.ts'
import type { GovernanceEvent } from './governance-event.ts'
import { SubjectLink } from './subject-link.tsx'

const column = columnsOf<GovernanceEvent>()
/** @param roomy true on a wide screen, where names of people and objects are not shortened */
const columnsOn = (roomy: boolean) =>
  column.columns([
    column.accessor('event_kind', {
      id: 'kind',
      header: 'Event',
      size: 200,
      cell: ({ row: { original: event } }) => (
        <>
          <Text size="sm" fw={500} truncate title={event.event_kind}>
            {titleOfEvent(event.event_kind)}
          </Text>
          <Text size="xs" c="dimmed" truncate hiddenFrom="md">
            <Text span inherit hiddenFrom="sm">
              <TimeText iso={event.created_at} />
              {' · '}
              {/* A user who signs in, for example, is both. */}
              {event.subject !== `user:${event.actor}` && (
                <>
                  <ActorName id={event.actor} short />
                  {' · '}
                </>
              )}
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
      size: roomy ? 260 : 190,
      meta: { from: 'md' },
      cell: ({ getValue }) => <SubjectLink subject={getValue()} inRow />,
    }),
    column.accessor('actor', {
      id: 'actor',
      header: 'Who',
      size: roomy ? 200 : 150,
      meta: { from: 'sm' },
      cell: ({ getValue, row }) => (
        <>
          <ActorName id={getValue()} short />
          {row.original.agent !== undefined && ` by “${row.original.agent}”`}
        </>
      ),
    }),
    column.display({
      id: 'what',
      header: 'What',
      size: 240,
      meta: { from: 'lg', grow: true },
      cell: ({ row }) => <What event={row.original} />,
    }),
  ])

const columns = { usual: columnsOn(false), roomy: columnsOn(true) }

function What({ event }: { event: GovernanceEvent }) {
  const words = describeEvent(event)
  return (
    <Text size="sm" c="dimmed" truncate title={words}>
      {words}
    </Text>
  )
}

type EventsTableProps = Pick<DataTableProps<GovernanceEvent>, 'openId' | 'onOpen' | 'more'> & {
  events: readonly GovernanceEvent[]
}

export function EventsTable({ events, ...rest }: EventsTableProps) {
  const width = useMatches({ base: 'usual', xl: 'roomy' } as const)
  return (
    <DataTable
      label="Governance events, newest first"
      rows={events}
      columns={columns[width]}
      rowId={({ record_id }) => record_id}
      {...rest}
    />
  )
}
