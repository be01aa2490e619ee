import { Anchor, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/hub.ts'
import { useMe } from '../../api/me.ts'
import { Loaded } from '../../components/loaded.tsx'
import { together } from '../../components/together.ts'
import { formatCount } from '../../ui/formats.ts'
import { AllWell, AttentionCard, AttentionList } from './attention-card.tsx'
import type { Keys } from './use-figures.ts'

interface UnusedSkillsProps {
  now: UseQueryResult<Keys, unknown>
  before: UseQueryResult<Keys, unknown>
}

/** Skills that nobody uses: of all that are published, for those who may list them; else of those used before. */
export function UnusedSkills(props: UnusedSkillsProps) {
  return useMe().may('listSkills') ? <DeadSkills {...props} /> : <QuietSkills {...props} />
}

function DeadSkills({ now, before }: UnusedSkillsProps) {
  const skills = api.useQuery('get', '/api/v1/skill-entitlement/skills', { params: { query: { limit: 1000 } } })
  return (
    <AttentionCard title="Dead skills" rule="Published, and not used in this range.">
      <Loaded query={together(skills, now)} what="skills">
        {([{ items, next_cursor }, { rows, complete }]) => {
          const used = new Set(rows.map(({ key }) => key))
          const dead = items.filter(({ skill_id, state }) => state === 'published' && !used.has(skill_id))
          return (
            <>
              {dead.length === 0 ? (
                <AllWell>Every published skill was used.</AllWell>
              ) : (
                <AttentionList items={dead.map(({ skill_id, name }) => item(skill_id, name, before.data))} />
              )}
              {(next_cursor || !complete) && (
                <Text size="xs" c="dimmed" mt="xs">
                  There are too many skills to look at all of them here.
                </Text>
              )}
            </>
          )
        }}
      </Loaded>
    </AttentionCard>
  )
}

function QuietSkills({ now, before }: UnusedSkillsProps) {
  return (
    <AttentionCard title="Gone quiet" rule="Used in the period before, and not in this range.">
      <Loaded query={together(now, before)} what="skills">
        {([{ rows }, earlier]) => {
          const used = new Set(rows.map(({ key }) => key))
          const quiet = earlier.rows.flatMap(({ key }) => (key === undefined || used.has(key) ? [] : [key]))
          return quiet.length === 0 ? (
            <AllWell>Every skill used before is used now.</AllWell>
          ) : (
            <AttentionList items={quiet.map((key) => item(key, undefined, earlier))} />
          )
        }}
      </Loaded>
    </AttentionCard>
  )
}

function item(skillId: string, name: string | undefined, before: Keys | undefined) {
  const earlier = before?.rows.find(({ key }) => key === skillId)
  const used = earlier
    ? `${formatCount(earlier.invocations)} invocations in the period before`
    : 'nor in the period before'
  return {
    id: skillId,
    name: (
      <Anchor
        component={Link}
        size="sm"
        to={`/records?${new URLSearchParams({ record_type: 'telemetry_event', skill_id: skillId })}`}
      >
        {skillId}
      </Anchor>
    ),
    said: before ? `${name ? `${name}: ` : ''}${used}` : (name ?? ''),
  }
}
