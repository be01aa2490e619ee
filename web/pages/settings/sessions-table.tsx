import { Badge, Button, Text } from '@mantine/core'
import { useMemo } from 'react'
import type { ApiResponse } from '../../api/api-client.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'

export type Session = ApiResponse<'listSessions'>['items'][number]

const methods: Record<Session['method'], string> = {
  oidc: 'Company account',
  magic_link: 'Link by e-mail',
  welcome_link: 'Welcome link',
  mock: 'Mock (development)',
}

const browsers = [
  [/Edg\//, 'Edge'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const

/** Returns the name of a common browser, otherwise its user agent. */
function browserOf(userAgent: string | undefined): string {
  if (!userAgent) return 'Unknown program'
  return browsers.find(([pattern]) => pattern.test(userAgent))?.[1] ?? userAgent
}

/** Returns the name of an authorized program, otherwise of the browser. */
function nameOf({ client_name: clientName, user_agent: userAgent }: Session): string {
  return clientName ?? browserOf(userAgent)
}

const column = columnsOf<Session>()
const columns = [
  column.accessor(nameOf, {
    id: 'browser',
    header: 'Browser or program',
    size: 150,
    meta: { grow: true },
    cell: ({ row: { original }, getValue }) => (
      <>
        <span title={original.user_agent}>
          {getValue()}{' '}
          {original.current && (
            <Badge color="seal" variant="light">
              This one
            </Badge>
          )}
          {original.client_name !== undefined && (
            <Badge color="gray" variant="light">
              Connected program
            </Badge>
          )}
        </span>
        <Text size="xs" c="dimmed" truncate hiddenFrom="sm">
          {`${original.address} · `}
          <TimeText iso={original.created_at} form="ago" />
        </Text>
      </>
    ),
  }),
  column.accessor('address', { header: 'From', size: 140, meta: { from: 'sm' } }),
  column.accessor('method', {
    header: 'Signed in by',
    size: 190,
    meta: { from: 'md' },
    cell: ({ getValue }) => methods[getValue()],
  }),
  column.accessor('created_at', {
    header: 'Since',
    size: 150,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <TimeText iso={getValue()} form="ago" />,
  }),
  column.accessor('expires_at', {
    header: 'Expires',
    size: 140,
    meta: { from: 'lg' },
    cell: ({ getValue }) => <TimeText iso={getValue()} form="ago" />,
  }),
]

/** Shows a person's sessions. This browser's own session ends by signing out. */
export function SessionsTable({ sessions, onEnd }: { sessions: readonly Session[]; onEnd(session: Session): void }) {
  const all = useMemo(
    () =>
      column.columns([
        ...columns,
        column.display({
          id: 'end',
          header: () => <span className="visually-hidden">Actions</span>,
          size: 90,
          cell: ({ row: { original } }) =>
            !original.current && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`End session of ${nameOf(original)} from ${original.address}`}
                onClick={() => onEnd(original)}
              >
                End
              </Button>
            ),
        }),
      ]),
    [onEnd],
  )
  return <DataTable label="Sessions" rows={sessions} columns={all} rowId={({ session_id }) => session_id} />
}
