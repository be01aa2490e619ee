import { Type } from 'typebox'
import { archetypeSkillsMax } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import { object } from '../../../../contract/object-schema.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import { NextCursor } from '../../../../contract/response-schemas.ts'

const archetypeId = Type.String({
  pattern: patterns.identifier,
  description: 'Id of the archetype',
  examples: ['support-agent'],
})
const skillId = Type.String({
  pattern: patterns.identifier,
  description: 'Id of the skill',
  examples: ['summarise-ticket'],
})

const grantMembers = {
  skill_id: skillId,
  granted_at: Type.String({ format: 'date-time', examples: ['2026-01-05T09:30:00.000000Z'] }),
  cowork_id: Type.Optional(
    Type.String({ description: 'Pack that made the grant; absent for a direct grant', examples: ['support'] }),
  ),
}

export const GrantsQuery = object({
  ...PageQuery.properties,
  archetype_id: Type.Optional(archetypeId),
  skill_id: Type.Optional(skillId),
})

export const GrantList = object({
  items: Type.Array(object({ archetype_id: archetypeId, ...grantMembers })),
  next_cursor: NextCursor,
})

export const ArchetypeParams = object({
  archetype_id: Type.String({ description: 'Id of the archetype', examples: ['support-agent'] }),
})

export const ArchetypeGrantsBody = object({
  skill_ids: Type.Array(skillId, {
    maxItems: archetypeSkillsMax,
    description: 'All skills of the archetype, each once; an empty list revokes all',
  }),
})

export const ArchetypeGrantsSchema = object({
  archetype_id: archetypeId,
  grants: Type.Array(object(grantMembers), {
    description: 'Sorted by skill',
  }),
})
