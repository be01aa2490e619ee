import { Text } from '@mantine/core'
import { api } from '../api/api-client.ts'
import { useMe } from '../api/me.ts'
import { UsageLink } from './usage-link.tsx'

const minutesKept = 5
const pageOfPeople = 1000

/**
 * Shows an actor: a person's name or address, the name of a service account, the Hub, the operator. Users without
 * permission to resolve names see the id, which is otherwise the tooltip: in tables (`short`) only its end, which
 * differs. Logs contain only ids of people. A person's name is a link to their page.
 */
export function ActorName({ id, short = false }: { id: string; short?: boolean }) {
  const name = useActorName(id) ?? (short && id.startsWith('usr_') ? `user …${id.slice(-8)}` : id)
  return (
    <Text span inherit title={id} style={{ overflowWrap: 'anywhere' }}>
      {id.startsWith('usr_') ? (
        <UsageLink group="user" id={id} inRow={short}>
          {name}
        </UsageLink>
      ) : (
        name
      )}
    </Text>
  )
}

/** Returns the name, or undefined while it is unknown. */
export function useActorName(id: string): string | undefined {
  const me = useMe()
  const staleTime = minutesKept * 60_000
  const isPerson = id.startsWith('usr_')
  // One call covers the people of most tenants. Only large tenants need a call for each, limited to 100 a minute.
  const people = api.useQuery(
    'get',
    '/api/v1/roster/users',
    { params: { query: { limit: pageOfPeople } } },
    { enabled: isPerson && me.may('listUsers'), staleTime },
  )
  const listed = people.data?.items.find(({ user_id }) => user_id === id)
  const single = api.useQuery(
    'get',
    '/api/v1/roster/users/{user_id}',
    { params: { path: { user_id: id } } },
    {
      enabled: isPerson && me.may('getUser') && !listed && typeof people.data?.next_cursor === 'string',
      staleTime,
      retry: false,
    },
  )
  const accounts = api.useQuery(
    'get',
    '/api/v1/service-accounts',
    { params: { query: { limit: pageOfPeople } } },
    { enabled: id.startsWith('sa') && me.may('listServiceAccounts'), staleTime },
  )
  if (isPerson) {
    const person = listed ?? single.data
    return id === me.subject ? 'You' : (person?.display_name ?? person?.email)
  }
  return accounts.data?.items.find(({ client_id }) => client_id === id)?.name ?? knownActor(id)
}

function knownActor(id: string): string | undefined {
  if (id === 'service:hub') return 'The Hub'
  if (id === 'service:retention') return 'The Hub, by a retention rule'
  if (id === 'operator:command-line') return 'The operator, by command'
  if (id === 'operator:api') return 'The operator, by API'
  if (id === 'operator:start') return 'The operator, by starting the Hub'
  if (id.startsWith('service:')) return `The Hub (${id.slice('service:'.length)})`
  if (id.startsWith('scim:')) return 'The directory'
  if (id.startsWith('inbound:')) return 'The identity provider, by message'
  return undefined
}
