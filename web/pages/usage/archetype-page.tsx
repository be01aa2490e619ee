import { SimpleGrid, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { useArchetypes } from '../../components/full-lists.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { UsageLink } from '../../components/usage-link.tsx'
import { AttentionList } from '../command-center/attention-card.tsx'
import { ArchetypeGrants } from './grant-lists.tsx'
import { phrasesOf } from './phrases.ts'
import { UsagePage } from './usage-page.tsx'
import { UsageSection } from './usage-section.tsx'

const route = getRouteApi('/usage/archetypes/$archetypeId')
const peopleShown = 20

/** Shows an archetype: its usage, its skills and its people. */
export default function ArchetypePage() {
  const { archetypeId } = route.useParams()
  const { may } = useMe()
  const archetypes = useArchetypes({ enabled: may('listArchetypes') })
  const archetype = archetypes.data?.find(({ archetype_id }) => archetype_id === archetypeId)
  return (
    <UsagePage
      group="archetype"
      id={archetypeId}
      title={archetype?.name ?? archetypeId}
      about={
        archetypes.data && !archetype
          ? `The archetype ${archetypeId}, which is not in the bundle of archetypes.`
          : `The archetype ${archetypeId}.`
      }
      words={phrasesOf([archetypeId, archetype?.name])}
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        {may('listGrants') && <ArchetypeGrants archetypeId={archetypeId} />}
        {may('listUsers') && <PeopleOf archetypeId={archetypeId} />}
      </SimpleGrid>
    </UsagePage>
  )
}

function PeopleOf({ archetypeId }: { archetypeId: string }) {
  const people = api.useQuery('get', '/api/v1/roster/users', {
    params: { query: { archetype_id: archetypeId, limit: peopleShown } },
  })
  return (
    <UsageSection
      title="People"
      more={
        <LinkText to="/skills/roster" search={{ archetype: archetypeId }} size="sm">
          Roster
        </LinkText>
      }
    >
      <QueryBoundary query={people} what="people">
        {({ items, next_cursor }) => (
          <>
            {items.length === 0 && <Text size="sm">Nobody has this archetype.</Text>}
            <AttentionList
              items={items.map(({ user_id, email, display_name }) => ({
                id: user_id,
                name: (
                  <UsageLink group="user" id={user_id}>
                    {display_name ?? email}
                  </UsageLink>
                ),
                said: display_name ? email : '',
              }))}
            />
            {next_cursor && (
              <Text size="xs" c="dimmed" mt="xs">
                There are more in the roster.
              </Text>
            )}
          </>
        )}
      </QueryBoundary>
    </UsageSection>
  )
}
