import { Type } from 'typebox'
import { coworkArchetypesMax, coworkSkillsMax, skillVersionLengthMax } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import { object } from '../../../../contract/object-schema.ts'
import { NextCursor } from '../../../../contract/response-schemas.ts'
import type { JsonObject } from '../../../../provenance/json.ts'

const identifier = (example: string) => Type.String({ pattern: patterns.identifier, examples: [example] })
const text = (maxLength: number, description: string, example: string) =>
  Type.String({ minLength: 1, maxLength, description, examples: [example] })
const moment = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-05T09:30:00.000000Z'] })

const skillMembers = {
  skill_id: identifier('summarise-contract'),
  skill_version: Type.String({
    pattern: patterns.semver,
    maxLength: skillVersionLengthMax,
    description: 'Semantic version',
    examples: ['1.4.0'],
  }),
}
const skillName = 'Display name'
// The members of a skill_definition record, since such records are made from these skills.
const optionalMembers = {
  description: Type.Optional(text(4000, 'Description of the skill; not in Mode C', 'Sums up obligations and dates.')),
  owner: Type.Optional(text(200, 'Owner of the skill', 'legal-operations')),
  manifest: Type.Optional(
    Type.Unsafe<JsonObject>(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Any JSON object; not in Mode C',
        examples: [{ inputs: ['text'] }],
      }),
    ),
  ),
}

const archetypeIds = Type.Array(identifier('account-manager'), {
  maxItems: coworkArchetypesMax,
  description: 'Archetypes of the bundle, each once',
})

export const CoworkParams = object({ cowork_id: Type.String({ description: 'Id of the pack' }) })

/** Parameters of the call that may create a pack. */
export const NewCoworkParams = object({
  cowork_id: Type.String({
    ...identifier('contracts'),
    description: 'Id of the pack. It is created if it does not exist',
  }),
})

export const CoworkBodySchema = object({
  name: text(200, 'Id of the pack', 'Contracts'),
  skills: Type.Array(
    object({ ...skillMembers, name: text(200, skillName, 'Summarise a contract'), ...optionalMembers }),
    { maxItems: coworkSkillsMax, description: 'Each skill once, with the version to register' },
  ),
  archetype_ids: archetypeIds,
})

export const CoworkSchema = object({
  cowork_id: identifier('contracts'),
  name: Type.String({ examples: ['Contracts'] }),
  skills: Type.Array(
    object({
      ...skillMembers,
      name: Type.String({
        description: `${skillName}; empty, and the rest absent, once the skill_definition was erased, or the key of a Mode B tenant destroyed`,
        examples: ['Summarise a contract'],
      }),
      ...optionalMembers,
    }),
  ),
  archetype_ids: Type.Array(identifier('account-manager')),
  created_at: moment('Time of creation'),
  updated_at: moment('Time of the last change'),
  applied_at: Type.Optional(moment('Time of the last application with changes; absent before the first')),
})

export const CoworkList = object({ items: Type.Array(CoworkSchema), next_cursor: NextCursor })

export const ApplicationBody = object({
  archetype_ids: Type.Optional(archetypeIds),
  dry_run: Type.Optional(Type.Boolean({ description: 'Returns the changes without making them', default: false })),
})

const GrantPairSchema = object({
  archetype_id: identifier('account-manager'),
  skill_id: identifier('summarise-contract'),
})

export const ApplicationSchema = object({
  cowork_id: identifier('contracts'),
  dry_run: Type.Boolean(),
  archetype_ids: Type.Array(identifier('account-manager'), {
    description: 'Archetypes that receive the skills of the pack',
  }),
  skill_ids: Type.Array(identifier('summarise-contract'), { description: 'Id of the pack' }),
  registered: Type.Array(object(skillMembers), {
    description: 'Versions that were written as skill_definition records',
  }),
  published: Type.Array(identifier('summarise-contract'), {
    description: 'Newly published skills, or skills with a newly published version',
  }),
  granted: Type.Array(GrantPairSchema, { description: 'New grants' }),
  revoked: Type.Array(GrantPairSchema, { description: 'Revoked grants of the pack' }),
  unchanged: Type.Boolean({ description: 'Nothing changed' }),
  applied_at: Type.Optional(moment('Time of the last application with changes; absent before the first')),
})
