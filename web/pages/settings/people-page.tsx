import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconPlus, IconSearch, IconUsers } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { Role } from '../../../contract/roles.ts'
import { api, hub } from '../../api/api-client.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { cursorOptions, moreOf } from '../../components/cursor-pagination.ts'
import { Help } from '../../components/help.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { roleOptions } from '../../components/role-labels.ts'
import { useAdding } from '../../components/use-adding.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { FoldedFilters } from '../../ui/folded-filters.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { InvitationDialog, type Invited } from './invitation-dialog.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import type { PeopleSearch } from './people-search.ts'
import { PeopleTable, type Person, type PersonAction } from './people-table.tsx'
import { PersonForm } from './person-form.tsx'
import { RejectedChange, RoleDialog } from './role-dialog.tsx'

const route = getRouteApi('/settings/people')

/** Shows who may sign in to the tenant, and with which role. */
export default function PeoplePage() {
  const { search, role, active } = route.useSearch()
  const navigate = route.useNavigate()
  const [adding, { open: startAdding, close: endAdding }] = useAdding()
  const [asked, setAsked] = useState<{ action: PersonAction; person: Person }>()
  const [invited, setInvited] = useState<Invited>()
  const [typed, setTyped] = useState(search ?? '')
  const close = () => setAsked(undefined)
  const narrow = (change: PeopleSearch) =>
    void navigate({ search: (former) => ({ ...former, ...change }), replace: true })
  const look = useDebouncedCallback((text: string) => narrow({ search: text.trim() || undefined }), 250)
  const people = api.useInfiniteQuery(
    'get',
    '/api/v1/roster/users',
    {
      params: {
        query: {
          limit: 100,
          ...(search && { search }),
          ...(role && { role }),
          ...(active && { active: active === 'true' }),
        },
      },
    },
    { ...cursorOptions, placeholderData: (former) => former },
  )
  const person = asked?.person
  const name = person?.display_name ?? person?.email

  const add = (
    <Button leftSection={<IconPlus size={16} />} onClick={startAdding}>
      Invite user
    </Button>
  )
  return (
    <>
      <PageHeader
        title="People and roles"
        help={<Help term="Role" />}
        about="Who may sign in to the tenant, and what they may do. A directory brings people and takes them away, but roles are given here alone."
        actions={add}
      />
      <Stack gap="sm">
        <search aria-label="Filters of people">
          <FoldedFilters set={[search, role, active].filter(Boolean).length}>
            <Group gap="sm" align="flex-end">
              <TextInput
                label="Search"
                placeholder="Part of a name or address"
                leftSection={<IconSearch size={16} aria-hidden />}
                w={{ base: '100%', xs: 260 }}
                value={typed}
                onChange={(event) => {
                  setTyped(event.currentTarget.value)
                  look(event.currentTarget.value)
                }}
              />
              <Select
                label="Role"
                placeholder="Any"
                data={roleOptions}
                clearable
                w={{ base: '100%', xs: 170 }}
                value={role ?? null}
                onChange={(value) => narrow({ role: (value as Role | null) ?? undefined })}
              />
              <Select
                label="State"
                placeholder="Any"
                data={[
                  { value: 'true', label: 'Active' },
                  { value: 'false', label: 'Deactivated' },
                ]}
                clearable
                w={{ base: '100%', xs: 170 }}
                value={active ?? null}
                onChange={(value) => narrow({ active: (value as 'true' | 'false' | null) ?? undefined })}
              />
            </Group>
          </FoldedFilters>
        </search>
        <QueryBoundary query={people} what="people">
          {({ pages }) => {
            const rows = pages.flatMap(({ items }) => items)
            return rows.length > 0 ? (
              <PeopleTable rows={rows} onAsk={setAsked} more={moreOf(people)} />
            ) : (
              <EmptyState
                title="Nobody found"
                icon={IconUsers}
                action={
                  <Button
                    variant="default"
                    onClick={() => {
                      setTyped('')
                      narrow({ search: undefined, role: undefined, active: undefined })
                    }}
                  >
                    Show everybody
                  </Button>
                }
              >
                Nobody of the tenant is of this name, role and state.
              </EmptyState>
            )
          }}
        </QueryBoundary>
      </Stack>
      <Dialog opened={adding} onClose={endAdding} title="Invite user">
        <PersonForm onClose={endAdding} onInvited={setInvited} />
      </Dialog>
      <InvitationDialog invited={invited} onClose={() => setInvited(undefined)} />
      {asked?.action === 'invite' && <InviteDialog person={asked.person} onClose={close} onInvited={setInvited} />}
      {asked?.action === 'role' && <RoleDialog person={asked.person} onClose={close} />}
      <ConfirmDialog
        opened={asked?.action === 'deactivate' || asked?.action === 'reactivate'}
        onClose={close}
        title={asked?.action === 'deactivate' ? `Deactivate ${name}?` : `Reactivate ${name}?`}
        confirmLabel={asked?.action === 'deactivate' ? 'Deactivate' : 'Reactivate'}
        danger={asked?.action === 'deactivate'}
        problem={(error) => <RejectedChange error={error} />}
        send={() => {
          const params = { path: { user_id: person?.user_id ?? '' } }
          return person?.active
            ? hub.POST('/api/v1/roster/users/{user_id}:deactivate', { params, body: {} })
            : hub.POST('/api/v1/roster/users/{user_id}:reactivate', { params, body: {} })
        }}
        done={`${name} is ${person?.active ? 'deactivated' : 'active again'}.`}
        refresh={['/api/v1/roster/users']}
      >
        <Text size="sm">
          {asked?.action === 'deactivate'
            ? 'All their sessions end at once and access tokens within 5 seconds; signing in is refused by every way. What they wrote stays. You can reactivate them at any time.'
            : 'They may sign in again, with the role of before. Former sessions stay ended.'}
        </Text>
      </ConfirmDialog>
    </>
  )
}
