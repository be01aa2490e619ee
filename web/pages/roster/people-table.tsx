import { Badge, Group, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ApiResponse } from '../../api/api-client.ts'
import { PersonCell, PersonState } from '../../components/person-cell.tsx'
import { roleLabels } from '../../components/role-labels.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'

export type Person = ApiResponse<'listUsers'>['items'][number]

const column = columnsOf<Person>()

export const peopleColumns = column.columns([
  column.accessor('email', {
    header: 'Person',
    size: 150,
    meta: { grow: true },
    cell: ({ row: { original } }) => <PersonCell person={original} />,
  }),
  column.accessor('archetype_ids', {
    header: 'Archetypes',
    size: 170,
    cell: ({ row: { original } }) => <Archetypes person={original} />,
  }),
  column.accessor('role', {
    header: 'Role',
    size: 130,
    meta: { from: 'md' },
    cell: ({ getValue }) => roleLabels[getValue()],
  }),
  column.accessor('last_sign_in_at', {
    header: 'Last sign-in',
    size: 130,
    meta: { from: 'lg' },
    cell: ({ getValue }) => {
      const at = getValue()
      return at ? <TimeText iso={at} form="ago" /> : 'never'
    },
  }),
  column.accessor('active', {
    header: 'State',
    size: 130,
    meta: { from: 'md' },
    cell: ({ getValue }) => <PersonState active={getValue()} />,
  }),
])

function Archetypes({ person: { archetype_ids, matched } }: { person: Person }) {
  if (!matched) {
    return (
      <Group gap={6} wrap="nowrap">
        <IconAlertTriangle size={15} color="var(--mantine-color-orange-text)" aria-hidden />
        <Text size="sm">none yet</Text>
      </Group>
    )
  }
  const [first, ...others] = archetype_ids
  return (
    <Group gap={6} wrap="nowrap" title={archetype_ids.join(', ')}>
      <span>{first ?? 'none'}</span>
      {others.length > 0 && (
        <Badge size="sm" variant="default">
          {`+${others.length}`}
        </Badge>
      )}
    </Group>
  )
}
