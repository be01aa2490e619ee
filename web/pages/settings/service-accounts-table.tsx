import { ActionIcon, Badge, Menu, Text } from '@mantine/core'
import { IconDots, IconKey, IconPencil, IconPlayerStop } from '@tabler/icons-react'
import { useMemo } from 'react'
import { scopeNames } from '../../../contract/scopes.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import type { ServiceAccount } from './service-account-form.tsx'

const column = columnsOf<ServiceAccount>()

const columns = [
  column.accessor('name', {
    header: 'Name',
    size: 150,
    meta: { grow: true },
    cell: ({ row: { original } }) => (
      <>
        <Text size="sm" fw={600} truncate>
          {original.name}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace" truncate>
          {original.client_id}
        </Text>
      </>
    ),
  }),
  column.accessor((row) => row.scopes.join(', '), {
    id: 'scopes',
    header: 'Scopes',
    size: 260,
    meta: { from: 'md' },
    cell: ({ getValue, row: { original } }) => (
      <span title={getValue()}>
        {original.scopes.length === scopeNames.length ? 'all of them: an administrator' : getValue()}
      </span>
    ),
  }),
  column.accessor((row) => row.last_used_at, {
    id: 'used',
    header: 'Last used',
    size: 140,
    meta: { from: 'sm' },
    cell: ({ getValue }) => {
      const iso = getValue()
      return iso ? <TimeText iso={iso} form="ago" /> : 'never'
    },
  }),
  column.accessor('created_at', {
    header: 'Created',
    size: 130,
    meta: { from: 'lg' },
    cell: ({ getValue }) => <TimeText iso={getValue()} form="date" />,
  }),
  column.display({
    id: 'state',
    header: 'State',
    size: 130,
    cell: ({ row: { original } }) => <State account={original} />,
  }),
]

function State({ account: { disabled_at, expires_at } }: { account: ServiceAccount }) {
  const ended = expires_at !== undefined && new Date(expires_at).getTime() < Date.now()
  if (disabled_at) return <StateBadge color="gray">Disabled</StateBadge>
  if (ended) return <StateBadge color="orange">Has ended</StateBadge>
  return <StateBadge color="seal">Active</StateBadge>
}

function StateBadge({ color, children }: { color: string; children: string }) {
  return (
    <Badge color={color} variant="light">
      {children}
    </Badge>
  )
}

export type AccountAction = 'change' | 'rotate' | 'disable'

interface ServiceAccountsTableProps {
  accounts: readonly ServiceAccount[]
  /** Must be the same function in each render; otherwise open menus close. */
  onAsk(asked: { action: AccountAction; account: ServiceAccount }): void
}

/** Shows credentials of programs, the oldest first. */
export function ServiceAccountsTable({ accounts, onAsk }: ServiceAccountsTableProps) {
  const all = useMemo(
    () =>
      column.columns([
        ...columns,
        column.display({
          id: 'actions',
          header: () => <span className="visually-hidden">Actions</span>,
          size: 60,
          cell: ({ row: { original } }) =>
            !original.disabled_at && (
              <Menu position="bottom-end" width={220}>
                <Menu.Target>
                  <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${original.name}`}>
                    <IconDots size={18} />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Item
                    leftSection={<IconPencil size={16} />}
                    onClick={() => onAsk({ action: 'change', account: original })}
                  >
                    Change
                  </Menu.Item>
                  <Menu.Item
                    leftSection={<IconKey size={16} />}
                    onClick={() => onAsk({ action: 'rotate', account: original })}
                  >
                    Rotate secret
                  </Menu.Item>
                  <Menu.Divider />
                  <Menu.Item
                    color="red"
                    leftSection={<IconPlayerStop size={16} />}
                    onClick={() => onAsk({ action: 'disable', account: original })}
                  >
                    Disable
                  </Menu.Item>
                </Menu.Dropdown>
              </Menu>
            ),
        }),
      ]),
    [onAsk],
  )
  return (
    <DataTable
      label="Service accounts"
      rows={accounts}
      columns={all}
      rowId={({ client_id }) => client_id}
      rowHeight={56}
    />
  )
}
