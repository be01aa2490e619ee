import { ActionIcon, Menu } from '@mantine/core'
import { IconDots, IconMailForward, IconUserCheck, IconUserEdit, IconUserOff } from '@tabler/icons-react'
import { useMemo } from 'react'
import type { ApiResponse } from '../../api/api-client.ts'
import { PersonCell, PersonState, personRow } from '../../components/person-cell.tsx'
import { roleLabels } from '../../components/role-labels.ts'
import { DataTable, type DataTableProps } from '../../ui/data-table.tsx'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'

export type Person = ApiResponse<'listUsers'>['items'][number]
export type PersonAction = 'role' | 'invite' | 'deactivate' | 'reactivate'

const column = columnsOf<Person>()
const columns = [
  column.accessor('email', {
    header: 'Person',
    size: 170,
    meta: { grow: true },
    cell: ({ row: { original } }) => <PersonCell person={original} />,
  }),
  column.accessor('role', { header: 'Role', size: 120, cell: ({ getValue }) => roleLabels[getValue()] }),
  column.accessor('active', {
    header: 'State',
    size: 130,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <PersonState active={getValue()} />,
  }),
  column.accessor('source', {
    header: 'From',
    size: 110,
    meta: { from: 'lg' },
    cell: ({ getValue }) => (getValue() === 'directory' ? 'Directory' : 'By hand'),
  }),
  column.accessor((row) => row.last_sign_in_at, {
    id: 'sign-in',
    header: 'Last sign-in',
    size: 150,
    meta: { from: 'md' },
    cell: ({ getValue }) => {
      const iso = getValue()
      return iso ? <TimeText iso={iso} form="ago" /> : 'never'
    },
  }),
]

interface PeopleTableProps extends Pick<DataTableProps<Person>, 'rows' | 'more'> {
  /** Must be the same function in each render; otherwise open menus close. */
  onAsk(asked: { action: PersonAction; person: Person }): void
}

/** Shows the people of the tenant with their roles. */
export function PeopleTable({ onAsk, ...rest }: PeopleTableProps) {
  const all = useMemo(
    () =>
      column.columns([
        ...columns,
        column.display({
          id: 'actions',
          header: () => <span className="visually-hidden">Actions</span>,
          size: 60,
          cell: ({ row: { original } }) => <PersonMenu person={original} onAsk={onAsk} />,
        }),
      ]),
    [onAsk],
  )
  return <DataTable label="People" columns={all} rowId={({ user_id }) => user_id} rowHeight={personRow} {...rest} />
}

function PersonMenu({ person, onAsk }: { person: Person; onAsk: PeopleTableProps['onAsk'] }) {
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${person.email}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconUserEdit size={16} />} onClick={() => onAsk({ action: 'role', person })}>
          Change role
        </Menu.Item>
        {person.active && person.last_sign_in_at === undefined && (
          <Menu.Item leftSection={<IconMailForward size={16} />} onClick={() => onAsk({ action: 'invite', person })}>
            Invite
          </Menu.Item>
        )}
        {person.active ? (
          <Menu.Item
            color="red"
            leftSection={<IconUserOff size={16} />}
            onClick={() => onAsk({ action: 'deactivate', person })}
          >
            Deactivate
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<IconUserCheck size={16} />} onClick={() => onAsk({ action: 'reactivate', person })}>
            Reactivate
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
