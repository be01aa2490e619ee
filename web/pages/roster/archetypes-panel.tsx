import { Button, Group, List, Stack, Text } from '@mantine/core'
import { IconIdBadge2 } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { api, hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import {
  type Archetype,
  archetypesPath,
  readArchetypes,
  useArchetypes,
  useGrants,
} from '../../components/full-lists.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { UsageLink } from '../../components/usage-link.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount, nothing } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { AddArchetypes } from './add-archetypes.tsx'

const column = columnsOf<Archetype>()
const readColumns = column.columns([
  column.accessor('archetype_id', {
    header: 'Id',
    size: 220,
    cell: ({ getValue }) => <UsageLink group="archetype" id={getValue()} />,
  }),
  column.accessor('name', { header: 'Name', meta: { grow: true }, cell: ({ getValue }) => getValue() ?? nothing }),
])

/** Shows the bundle of archetypes: the roles by which use of skills is measured. */
export function ArchetypesPanel() {
  const me = useMe()
  const archetypes = useArchetypes()
  const [leaving, setLeaving] = useState<Archetype>()
  const mayChange = me.may('replaceArchetypes')

  const columns = useMemo(
    () =>
      mayChange
        ? [
            ...readColumns,
            column.display({
              id: 'remove',
              header: 'Action',
              size: 110,
              meta: { align: 'right' },
              cell: ({ row: { original } }) => (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="red"
                  aria-label={`Remove ${original.archetype_id}`}
                  onClick={() => setLeaving(original)}
                >
                  Remove
                </Button>
              ),
            }),
          ]
        : readColumns,
    [mayChange],
  )

  return (
    <Stack>
      {mayChange && (
        <AddArchetypes
          taken={archetypes.data ?? []}
          onAdd={(added) =>
            replaceArchetypes((now) => [
              ...now.filter(({ archetype_id }) => archetype_id !== added.archetype_id),
              added,
            ])
          }
        />
      )}
      <QueryBoundary query={archetypes} what="archetypes">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No archetypes yet" icon={IconIdBadge2}>
              An archetype is what somebody does, such as analyst or support agent. Groups of the directory are mapped
              to archetypes, and skills are granted to them.
            </EmptyState>
          ) : (
            <DataTable label="Archetypes" rows={rows} columns={columns} rowId={({ archetype_id }) => archetype_id} />
          )
        }
      </QueryBoundary>
      <ConfirmDialog
        opened={leaving !== undefined}
        onClose={() => setLeaving(undefined)}
        title={`Remove ${leaving?.archetype_id ?? ''}?`}
        confirmLabel="Remove archetype"
        danger
        failed="The archetype could not be removed"
        send={() =>
          replaceArchetypes((now) => now.filter(({ archetype_id }) => archetype_id !== leaving?.archetype_id))
        }
        done={`${leaving?.archetype_id} is removed.`}
        refresh="everything"
      >
        {leaving && <WhatGoes archetypeId={leaving.archetype_id} />}
      </ConfirmDialog>
    </Stack>
  )
}

/** Reads the bundle again before the call replaces it as a whole, so that concurrent additions stay. */
async function replaceArchetypes(next: (now: Archetype[]) => Archetype[]) {
  return hub.PUT(archetypesPath, { body: { archetypes: next(await readArchetypes()) } })
}

const peopleCounted = 1000

/** Shows what is removed along with an archetype. */
function WhatGoes({ archetypeId }: { archetypeId: string }) {
  const grants = useGrants({ archetype_id: archetypeId })
  const people = api.useQuery('get', '/api/v1/roster/users', {
    params: { query: { archetype_id: archetypeId, limit: peopleCounted } },
  })
  const count = people.data
    ? `${formatCount(people.data.items.length)}${people.data.next_cursor ? ' or more' : ''}`
    : undefined
  return (
    <Stack gap="xs">
      <Text size="sm">What goes away with it:</Text>
      <List size="sm">
        <List.Item>
          {count === undefined ? 'It is taken from all people who have it.' : `It is taken from ${count} people.`}
        </List.Item>
        <List.Item>
          {grants.data
            ? `Its ${formatCount(grants.data.length)} grants of skills are lost.`
            : 'Its grants of skills are lost.'}
        </List.Item>
        <List.Item>Telemetry that names it is refused from then on.</List.Item>
      </List>
      <Group>
        <Text size="sm">
          Records stay. If you add it again, people get it back by their groups; grants must be given again.
        </Text>
      </Group>
    </Stack>
  )
}
