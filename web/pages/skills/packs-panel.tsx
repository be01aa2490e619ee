import { Button, Group, Title } from '@mantine/core'
import { IconPackage, IconPlus } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { cursorOptions, moreOf } from '../../components/cursor-pagination.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { PackDetails } from './pack-details.tsx'
import { isChanged, type Pack, packsPath } from './packs.ts'

const route = getRouteApi('/skills')
/** Represents a new pack in the address; ids of packs cannot contain this character. */
const fresh = '+'

const column = columnsOf<Pack>()
const packColumns = column.columns([
  column.accessor('name', { header: 'Pack', size: 160, meta: { grow: true } }),
  column.accessor('cowork_id', { header: 'Id', size: 170, meta: { from: 'md' } }),
  column.accessor((pack) => pack.skills.length, {
    id: 'skills',
    header: 'Skills',
    size: 80,
    meta: { align: 'right', from: 'sm' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor('archetype_ids', {
    header: 'Archetypes',
    size: 220,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <span title={getValue().join(', ')}>{getValue().join(', ') || 'none'}</span>,
  }),
  column.accessor('applied_at', {
    header: 'Applied',
    size: 190,
    cell: ({ row: { original } }) => {
      if (!original.applied_at) return 'not yet'
      return isChanged(original) ? 'changed since' : <TimeText iso={original.applied_at} form="ago" />
    },
  }),
])

export function usePacks() {
  return api.useInfiniteQuery('get', packsPath, { params: { query: { limit: 100 } } }, cursorOptions)
}

/** Shows skill packs: their stored content, and whether it is in effect. */
export function PacksPanel() {
  const me = useMe()
  const { pack: openId } = route.useSearch()
  const navigate = useNavigate({ from: '/skills' })
  const open = (pack: string | undefined) => void navigate({ search: (before) => ({ ...before, pack }) })
  const packs = usePacks()
  const rows = packs.data?.pages.flatMap(({ items }) => items) ?? []
  const shown = rows.find(({ cowork_id }) => cowork_id === openId)
  const add = me.may('replaceCowork') && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => open(fresh)}>
      Add pack
    </Button>
  )
  return (
    <section aria-labelledby="packs">
      <Group justify="space-between" mb="sm">
        <Title order={2} id="packs">
          Packs
        </Title>
        {rows.length > 0 && add}
      </Group>
      <QueryBoundary query={packs} what="packs">
        {() =>
          rows.length === 0 ? (
            <EmptyState title="No packs yet" icon={IconPackage} action={add}>
              A pack is a set of skills for some archetypes. Storing one does nothing yet; applying it registers,
              publishes and grants its skills.
            </EmptyState>
          ) : (
            <DataTable
              label="Packs"
              rows={rows}
              columns={packColumns}
              rowId={({ cowork_id }) => cowork_id}
              openId={openId}
              onOpen={({ cowork_id }) => open(cowork_id)}
              maxHeight="22rem"
              more={moreOf(packs)}
            />
          )
        }
      </QueryBoundary>
      <SidePanel
        opened={shown !== undefined || (openId === fresh && me.may('replaceCowork'))}
        onClose={() => open(undefined)}
        position="right"
        size="xl"
        {...(openId === fresh ? { title: 'Add a pack' } : { kind: 'Pack', title: shown?.name })}
      >
        <PackDetails key={openId} pack={shown} onStored={open} onClose={() => open(undefined)} />
      </SidePanel>
    </section>
  )
}
