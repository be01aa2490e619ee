import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { combineQueries } from '../combined-query.ts'
import type { LoadableQuery } from '../query-boundary.tsx'

/** The names of an example event in a tenant that has no skill or archetype yet. */
export const firstNames = { skillId: 'first-skill', archetypeId: 'everyone' } as const

/** The skill, archetype and user of an example event. */
export interface Sample {
  skillId: string
  skillVersion: string
  archetypeId: string
  userId: string
  hasSkill: boolean
  hasArchetype: boolean
}

/** Returns names of this tenant for an example event, preferably such that the user may use the skill. */
export function useSample(): LoadableQuery<Sample> {
  const me = useMe()
  const skills = api.useQuery('get', '/api/v1/skill-entitlement/skills', { params: { query: { limit: 100 } } })
  const archetypes = api.useQuery('get', '/api/v1/roster/archetypes', { params: { query: { limit: 1 } } })
  const grants = api.useQuery('get', '/api/v1/skill-entitlement/grants', { params: { query: { limit: 1 } } })
  // The reader sends the example, so the event counts for no one else.
  const person = api.useQuery('get', '/api/v1/auth/me', {}, { staleTime: Number.POSITIVE_INFINITY })
  const all = combineQueries(skills, archetypes, grants, person)
  if (!all.data) return { ...all, data: undefined }
  const [{ items: known }, { items: bundle }, { items: granted }, { email }] = all.data
  const usable = known.filter(({ state }) => state !== 'retired')
  const skill = usable.find(({ skill_id }) => skill_id === granted[0]?.skill_id) ?? usable[0]
  const archetypeId = granted[0]?.archetype_id ?? bundle[0]?.archetype_id
  return {
    ...all,
    data: {
      skillId: skill?.skill_id ?? firstNames.skillId,
      skillVersion: skill?.versions.at(-1)?.skill_version ?? '1.0.0',
      archetypeId: archetypeId ?? firstNames.archetypeId,
      userId: `user:${email ?? `somebody@${me.tenant}.example`}`,
      hasSkill: skill !== undefined,
      hasArchetype: archetypeId !== undefined,
    },
  }
}
