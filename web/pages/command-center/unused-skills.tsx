import { Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { combineQueries } from '../../components/combined-query.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { UsageLink } from '../../components/usage-link.tsx'
import { formatCount } from '../../ui/formats.ts'
import { AllWell, AttentionCard, AttentionList } from './attention-card.tsx'
import type { Keys } from './use-metrics.ts'

interface UnusedSkillsProps {
  now: UseQueryResult<Keys, unknown>
  before: UseQueryResult<Keys, unknown>
}

/**
 * Lists unused skills, regardless of the filters: among all published ones for users who may list them, otherwise among
 * those used before.
 */
export function UnusedSkills(props: UnusedSkillsProps) {
  return useMe().may('listSkills') ? <UnusedPublished {...props} /> : <NoLongerUsed {...props} />
}

function UnusedPublished({ now, before }: UnusedSkillsProps) {
  const skills = api.useQuery('get', '/api/v1/skill-entitlement/skills', { params: { query: { limit: 1000 } } })
  return (
    <AttentionCard title="Unused skills" rule="Published, and used by nobody in this range.">
      <QueryBoundary query={combineQueries(skills, now)} what="skills">
        {([{ items, next_cursor }, { rows, complete }]) => {
          const used = new Set(rows.map(({ key }) => key))
          const unused = items.filter(({ skill_id, state }) => state === 'published' && !used.has(skill_id))
          return (
            <>
              {unused.length === 0 ? (
                <AllWell>Every published skill was used.</AllWell>
              ) : (
                <AttentionList items={unused.map(({ skill_id, name }) => item(skill_id, name, before.data))} />
              )}
              {(next_cursor || !complete) && (
                <Text size="xs" c="dimmed" mt="xs">
                  There are too many skills to look at all of them here.
                </Text>
              )}
            </>
          )
        }}
      </QueryBoundary>
    </AttentionCard>
  )
}

function NoLongerUsed({ now, before }: UnusedSkillsProps) {
  return (
    <AttentionCard title="No longer used" rule="Used in the previous period, and not in this range.">
      <QueryBoundary query={combineQueries(now, before)} what="skills">
        {([{ rows }, earlier]) => {
          const used = new Set(rows.map(({ key }) => key))
          const earlierOnly = earlier.rows.flatMap(({ key }) => (key === undefined || used.has(key) ? [] : [key]))
          return earlierOnly.length === 0 ? (
            <AllWell>Every skill used before is used now.</AllWell>
          ) : (
            <AttentionList items={earlierOnly.map((key) => item(key, undefined, earlier))} />
          )
        }}
      </QueryBoundary>
    </AttentionCard>
  )
}

function item(skillId: string, name: string | undefined, before: Keys | undefined) {
  const earlier = before?.rows.find(({ key }) => key === skillId)
  const used = earlier
    ? `${formatCount(earlier.invocations)} invocations in the previous period`
    : 'not used in the previous period either'
  return {
    id: skillId,
    name: <UsageLink group="skill" id={skillId} />,
    said: before ? `${name ? `${name}: ` : ''}${used}` : (name ?? ''),
  }
}
