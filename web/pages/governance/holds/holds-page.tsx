import { Button, SegmentedControl } from '@mantine/core'
import { IconGavel, IconPlus } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { api } from '../../../api/api-client.ts'
import { useMe } from '../../../api/me.ts'
import { cursorOptions, moreOf } from '../../../components/cursor-pagination.ts'
import { Help } from '../../../components/help.tsx'
import { QueryBoundary } from '../../../components/query-boundary.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { PageHeader } from '../../../ui/page-header.tsx'
import { HoldDrawer } from './hold-details.tsx'
import type { HoldsSearch } from './holds-search.ts'
import { HoldsTable } from './holds-table.tsx'
import { PlaceHold } from './place-hold.tsx'

const route = getRouteApi('/governance/holds')
const states = [
  { value: 'active', label: 'In force' },
  { value: 'released', label: 'Released' },
  { value: 'all', label: 'All' },
]

export default function HoldsPage() {
  const me = useMe()
  const { state, hold, place } = route.useSearch()
  const navigate = route.useNavigate()
  const go = (change: HoldsSearch) =>
    void navigate({ search: (before: HoldsSearch) => ({ ...before, ...change }), replace: true })
  const query = api.useInfiniteQuery(
    'get',
    '/api/v1/hub/legal-holds',
    { params: { query: { limit: 200, ...(state && { active: state === 'active' }) } } },
    {
      ...cursorOptions,
    },
  )
  const holds = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data])
  const isEmpty = query.data !== undefined && holds.length === 0 && state !== 'released'
  const placeButton = me.may('placeHold') && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => go({ place: '1' })}>
      Place hold
    </Button>
  )

  const endPlacing = (placed?: string) => go({ place: undefined, ...(placed && { hold: placed, state: undefined }) })
  return (
    <>
      <PageHeader
        title="Legal holds"
        help={<Help term="Hold" label="Legal hold" />}
        about="A hold prevents the purge and erasure of records, by people and by retention rules, until it is released. Several holds can cover one record, which stays protected until the last one is released."
        actions={!isEmpty && placeButton}
      />
      <SegmentedControl
        mb="md"
        aria-label="Holds that are shown"
        data={states}
        value={state ?? 'all'}
        onChange={(value) => go({ state: value === 'all' ? undefined : (value as 'active' | 'released') })}
      />
      <QueryBoundary query={query} what="legal holds">
        {() =>
          holds.length === 0 ? (
            <EmptyState
              title={state === 'released' ? 'No hold was released' : 'No legal holds'}
              icon={IconGavel}
              action={state === 'released' ? undefined : placeButton}
            >
              {state === 'released'
                ? 'Holds stay in force until somebody releases them, with a reason.'
                : 'Place one when records must be kept for a matter: by their ids, or by a filter that also covers what is written later.'}
            </EmptyState>
          ) : (
            <HoldsTable
              holds={holds}
              openId={hold}
              onOpen={({ hold_id }) => go({ hold: hold_id })}
              more={moreOf(query)}
            />
          )
        }
      </QueryBoundary>
      <HoldDrawer holdId={hold} onClose={() => go({ hold: undefined })} />
      {me.may('placeHold') && (
        <Dialog opened={place !== undefined} onClose={() => endPlacing()} title="Place a legal hold" size="xl">
          <PlaceHold recordIds={place && place !== '1' ? place.split(',') : []} onClose={endPlacing} />
        </Dialog>
      )}
    </>
  )
}
