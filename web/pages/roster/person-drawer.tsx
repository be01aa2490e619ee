import { Stack, Text, Title } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { type ApiResponse, api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { LinkText } from '../../components/link-text.tsx'
import { PersonState } from '../../components/person-cell.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { roleLabels } from '../../components/role-labels.ts'
import { UsageLink } from '../../components/usage-link.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { PersonArchetypes } from './person-archetypes.tsx'

type Person = ApiResponse<'getUser'>

/**
 * Maximum number of groups that are searched for a person: the API returns members of a group, not groups of a person.
 */
const groupsSearchedMax = 12

interface PersonDrawerProps {
  userId: string | undefined
  onClose(): void
}

/** Shows a person, their groups, and their archetypes with the reason for each. */
export function PersonDrawer({ userId, onClose }: PersonDrawerProps) {
  const person = api.useQuery(
    'get',
    '/api/v1/roster/users/{user_id}',
    { params: { path: { user_id: userId ?? '' } } },
    { enabled: userId !== undefined },
  )
  const name = userId && (person.data?.display_name ?? person.data?.email)
  return (
    <SidePanel opened={userId !== undefined} onClose={onClose} size="md" kind="Person" title={name}>
      {userId && (
        <QueryBoundary query={person} what="person">
          {(data) => (
            <Stack key={userId}>
              <UsageLink group="user" id={userId}>
                Show usage
              </UsageLink>
              <PersonDetails person={data} />
            </Stack>
          )}
        </QueryBoundary>
      )}
    </SidePanel>
  )
}

/** Shows a person's identity, their archetypes with the reason for each, and their groups. */
export function PersonDetails({ person }: { person: Person }) {
  return (
    <Stack gap="lg">
      <Identity person={person} />
      <PersonArchetypes userId={person.user_id} />
      <GroupsOf userId={person.user_id} />
    </Stack>
  )
}

function Identity({ person }: { person: Person }) {
  const me = useMe()
  return (
    <DescriptionList>
      <DescriptionItem name="State">
        <PersonState active={person.active} />
      </DescriptionItem>
      <DescriptionItem name="Address">{person.email}</DescriptionItem>
      {person.directory_email !== person.email && (
        <DescriptionItem name="In the directory">{person.directory_email}</DescriptionItem>
      )}
      <DescriptionItem name="User name">{person.user_name}</DescriptionItem>
      <DescriptionItem name="External id">{person.external_id}</DescriptionItem>
      <DescriptionItem name="Id">
        <CopyText value={person.user_id} label="Copy id" />
      </DescriptionItem>
      <DescriptionItem name="Kept by">
        {person.source === 'directory' ? 'the directory' : 'an administrator'}
      </DescriptionItem>
      <DescriptionItem name="Role">
        {roleLabels[person.role]}
        {me.may('replaceUserRole') && (
          <>
            {' · '}
            <LinkText to="/settings/people" search={{ search: person.email }} size="sm">
              Change role or deactivate
            </LinkText>
          </>
        )}
      </DescriptionItem>
      <DescriptionItem name="Last sign-in">
        {person.last_sign_in_at ? <TimeText iso={person.last_sign_in_at} /> : 'never'}
      </DescriptionItem>
      <DescriptionItem name="Deactivated">
        {person.deactivated_at && <TimeText iso={person.deactivated_at} />}
      </DescriptionItem>
    </DescriptionList>
  )
}

function GroupsOf({ userId }: { userId: string }) {
  const groups = api.useQuery('get', '/api/v1/roster/groups', { params: { query: { limit: 1000 } } })
  const all = groups.data?.items.filter(({ member_count }) => member_count > 0) ?? []
  const searched = all.length <= groupsSearchedMax ? all : []
  const members = useQueries({
    queries: searched.map(({ group_id }) =>
      api.queryOptions(
        'get',
        '/api/v1/roster/groups/{group_id}/members',
        { params: { path: { group_id }, query: { limit: 1000 } } },
        { staleTime: 60_000 },
      ),
    ),
  })
  const theirs = searched.filter((_, index) => members[index]?.data?.items.some(({ user_id }) => user_id === userId))
  const isWhole = members.every(({ data }) => data && data.next_cursor === null)
  return (
    <Stack gap="xs">
      <Title order={3}>Groups of the directory</Title>
      {all.length > groupsSearchedMax ? (
        <Text size="sm">
          There are too many groups to look through here.{' '}
          <LinkText to="/skills/roster" search={{ tab: 'groups' }} inherit underline="always">
            Groups
          </LinkText>{' '}
          shows who is in which.
        </Text>
      ) : (
        <>
          {theirs.map(({ group_id, display_name, archetype_ids }) => (
            <Text size="sm" key={group_id}>
              <LinkText to="/skills/roster" search={{ tab: 'groups', members: group_id }} inherit underline="always">
                {display_name}
              </LinkText>
              {archetype_ids.length > 0 ? ` gives ${archetype_ids.join(', ')}` : ' is mapped to no archetype'}
            </Text>
          ))}
          {theirs.length === 0 && (
            <Text size="sm" c="dimmed">
              {groups.isSuccess && isWhole ? 'In none of them.' : 'Looking …'}
            </Text>
          )}
        </>
      )}
    </Stack>
  )
}
