import { Stack, Text } from '@mantine/core'
import { IconUsersGroup } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type ApiResponse, api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { cursorOptions, moreOf } from '../../components/cursor-pagination.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { LinkText } from '../../components/link-text.tsx'
import { PersonCell, PersonState, personRow } from '../../components/person-cell.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'

type DirectoryGroup = ApiResponse<'listGroups'>['items'][number]
type Member = ApiResponse<'listGroupMembers'>['items'][number]

const route = getRouteApi('/skills/roster')
const group = columnsOf<DirectoryGroup>()
const groupColumns = group.columns([
  group.accessor('display_name', { header: 'Group', meta: { grow: true } }),
  group.accessor('member_count', {
    header: 'Members',
    size: 110,
    meta: { align: 'right' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  group.accessor('archetype_ids', {
    header: 'Gives archetypes',
    size: 260,
    meta: { from: 'sm' },
    cell: ({ getValue }) => getValue().join(', ') || 'none: not mapped',
  }),
  group.accessor('updated_at', {
    header: 'Changed',
    size: 160,
    meta: { from: 'md' },
    cell: ({ getValue }) => <TimeText iso={getValue()} form="ago" />,
  }),
])

/** Shows groups as the directory sent them, with their members. */
export function GroupsPanel() {
  const me = useMe()
  const { members } = route.useSearch()
  const navigate = useNavigate({ from: '/skills/roster' })
  const groups = api.useInfiniteQuery(
    'get',
    '/api/v1/roster/groups',
    { params: { query: { limit: 500 } } },
    cursorOptions,
  )
  const rows = groups.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        Groups are the directory’s to change. Which of them give which archetypes is said{' '}
        {me.may('configureScim') ? (
          <LinkText to="/settings/directory" inherit underline="always">
            at the directory
          </LinkText>
        ) : (
          'at the directory'
        )}
        .
      </Text>
      <QueryBoundary query={groups} what="groups">
        {() =>
          rows.length === 0 ? (
            <EmptyState
              title="No groups yet"
              icon={IconUsersGroup}
              action={
                me.may('configureScim') && (
                  <LinkButton to="/settings/directory" variant="filled">
                    Connect the directory
                  </LinkButton>
                )
              }
            >
              Groups come from the directory, by SCIM.
            </EmptyState>
          ) : (
            <DataTable
              label="Groups"
              rows={rows}
              columns={groupColumns}
              rowId={({ group_id }) => group_id}
              openId={members}
              onOpen={({ group_id }) => void navigate({ search: { tab: 'groups', members: group_id } })}
              more={moreOf(groups)}
            />
          )
        }
      </QueryBoundary>
      <SidePanel
        opened={members !== undefined}
        onClose={() => void navigate({ search: { tab: 'groups' } })}
        position="right"
        size="lg"
        kind="Group"
        title={rows.find(({ group_id }) => group_id === members)?.display_name}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {members && <Members groupId={members} group={rows.find(({ group_id }) => group_id === members)} />}
      </SidePanel>
    </>
  )
}

const member = columnsOf<Member>()
const memberColumns = member.columns([
  member.accessor('email', {
    header: 'Person',
    meta: { grow: true },
    cell: ({ row: { original } }) => <PersonCell person={original} />,
  }),
  member.accessor('active', {
    header: 'State',
    size: 130,
    cell: ({ getValue }) => <PersonState active={getValue()} />,
  }),
])

function Members({ groupId, group: shown }: { groupId: string; group: DirectoryGroup | undefined }) {
  const navigate = useNavigate({ from: '/skills/roster' })
  const members = api.useInfiniteQuery(
    'get',
    '/api/v1/roster/groups/{group_id}/members',
    { params: { path: { group_id: groupId }, query: { limit: 500 } } },
    cursorOptions,
  )
  const rows = members.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <Stack gap="sm">
      {shown && (
        <Text size="sm">
          {shown.archetype_ids.length > 0
            ? `Its members have the archetypes ${shown.archetype_ids.join(', ')}.`
            : 'It is mapped to no archetype, so it gives its members none.'}
        </Text>
      )}
      <QueryBoundary query={members} what="members">
        {() =>
          rows.length === 0 ? (
            <EmptyState title="Nobody is in this group" icon={IconUsersGroup}>
              Groups inside groups are not followed.
            </EmptyState>
          ) : (
            <DataTable
              label="Members"
              rows={rows}
              columns={memberColumns}
              rowId={({ user_id }) => user_id}
              rowHeight={personRow}
              onOpen={({ user_id }) => void navigate({ search: { active: 'all', user: user_id } })}
              more={moreOf(members)}
            />
          )
        }
      </QueryBoundary>
    </Stack>
  )
}
