import { Text } from '@mantine/core'
import { api } from '../../api/api-client.ts'
import { useGrants } from '../../components/full-lists.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { UsageLink } from '../../components/usage-link.tsx'
import { AttentionList } from '../command-center/attention-card.tsx'
import { UsageSection } from './usage-section.tsx'

const grantsMax = 1000

/** Lists the archetypes that may use a skill. */
export function SkillGrants({ skillId }: { skillId: string }) {
  const grants = api.useQuery('get', '/api/v1/skill-entitlement/grants', {
    params: { query: { skill_id: skillId, limit: grantsMax } },
  })
  return (
    <UsageSection
      title="Who may use it"
      more={
        <LinkText to="/skills/grants" search={{ skill: skillId }} size="sm">
          Open grants
        </LinkText>
      }
    >
      <QueryBoundary query={grants} what="grants">
        {({ items }) =>
          items.length === 0 ? (
            <Text size="sm">Nobody: it is granted to no archetype.</Text>
          ) : (
            <AttentionList
              items={items.map(({ archetype_id }) => ({
                id: archetype_id,
                name: <UsageLink group="archetype" id={archetype_id} />,
                said: 'People of this archetype',
              }))}
            />
          )
        }
      </QueryBoundary>
    </UsageSection>
  )
}

/** Lists the skills that an archetype may use. */
export function ArchetypeGrants({ archetypeId }: { archetypeId: string }) {
  const grants = useGrants(archetypeId)
  return (
    <UsageSection
      title="Skills it may use"
      more={
        <LinkText to="/skills/grants" search={{ archetype: archetypeId }} size="sm">
          Open grants
        </LinkText>
      }
    >
      <QueryBoundary query={grants} what="grants">
        {(items) =>
          items.length === 0 ? (
            <Text size="sm">None: no skill is granted to it.</Text>
          ) : (
            <AttentionList
              items={items.map(({ skill_id }) => ({
                id: skill_id,
                name: <UsageLink group="skill" id={skill_id} />,
                said: '',
              }))}
            />
          )
        }
      </QueryBoundary>
    </UsageSection>
  )
}
