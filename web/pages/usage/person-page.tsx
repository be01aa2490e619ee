import { Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PersonDetails } from '../roster/person-drawer.tsx'
import { DecisionsOf } from './decisions-of.tsx'
import { UsagePage } from './usage-page.tsx'
import { UsageSection } from './usage-section.tsx'

const route = getRouteApi('/usage/people/$personId')

/**
 * Shows a person: their usage, their archetypes and their decisions. Records name people by an opaque id (`usr_…`) and
 * telemetry by an address; the roster connects the two, for users who may read it.
 */
export default function PersonPage() {
  const { personId } = route.useParams()
  const { may } = useMe()
  const isOpaque = personId.startsWith('usr_')
  const single = api.useQuery(
    'get',
    '/api/v1/roster/users/{user_id}',
    { params: { path: { user_id: personId } } },
    { enabled: isOpaque && may('getUser') },
  )
  const email = personId.replace(/^user:/, '')
  const listed = api.useQuery(
    'get',
    '/api/v1/roster/users',
    { params: { query: { email, limit: 1 } } },
    { enabled: !isOpaque && email.includes('@') && may('listUsers') },
  )
  const person = isOpaque ? single.data : listed.data?.items[0]
  const userId = person?.user_id ?? (isOpaque ? personId : undefined)
  const isResolving = isOpaque && may('getUser') && single.isPending
  return (
    <UsagePage
      group="user"
      id={isOpaque ? person && `user:${person.email}` : personId}
      title={person?.display_name ?? person?.email ?? email}
      about={person ? `The person ${person.email}.` : 'A person.'}
      words={undefined}
      unknown={
        isResolving ? (
          <SkeletonLines lines={3} />
        ) : (
          <Notice kind="info" title="The usage of this person cannot be shown">
            {may('getUser')
              ? 'Telemetry names people by address, and the roster has no address for this id.'
              : 'Telemetry names people by address, and your role may not see whose id this is.'}
          </Notice>
        )
      }
    >
      {isOpaque && may('getUser') && (
        <UsageSection title="Person">
          <QueryBoundary query={single} what="person">
            {(data) => <PersonDetails person={data} />}
          </QueryBoundary>
        </UsageSection>
      )}
      {!isOpaque && may('listUsers') && email.includes('@') && (
        <UsageSection title="Person">
          <QueryBoundary query={listed} what="person">
            {({ items: [found] }) =>
              found ? <PersonDetails person={found} /> : <Text size="sm">Nobody in the roster has this address.</Text>
            }
          </QueryBoundary>
        </UsageSection>
      )}
      {userId !== undefined && <DecisionsOf userId={userId} />}
    </UsagePage>
  )
}
