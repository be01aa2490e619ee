import { type Static, Type } from 'typebox'
import { patterns } from '../../../../contract/literals.ts'
import { object } from '../../../../contract/object-schema.ts'

const rulesMax = 100

const SkillId = Type.String({ pattern: patterns.identifier, examples: ['summarise-ticket'] })
const ArchetypeId = Type.String({ pattern: patterns.identifier, examples: ['support-agent'] })

const RuleSchema = object({
  when: Type.Record(
    Type.String({ minLength: 1, maxLength: 256 }),
    Type.Union([Type.String({ maxLength: 1024 }), Type.Number(), Type.Boolean()], {
      'x-must-be': 'text, a number, true or false',
    }),
    {
      minProperties: 1,
      maxProperties: 10,
      description: 'Attributes of the span, its scope or its resource, which must all have these values',
      examples: [{ 'service.name': 'support-bot' }],
    },
  ),
  set: object(
    {
      skill_id: Type.Optional(SkillId),
      archetype_id: Type.Optional(ArchetypeId),
      llm_platform: Type.Optional(Type.String({ pattern: patterns.llmPlatform, examples: ['custom:support-bot'] })),
    },
    { minProperties: 1, description: 'Members of the event' },
  ),
})

const members = {
  default_skill_id: Type.Union([SkillId, Type.Null()], {
    'x-must-be': 'a skill id or null',
    description: 'The skill of spans that name none',
  }),
  default_archetype_id: Type.Union([ArchetypeId, Type.Null()], {
    'x-must-be': 'an archetype id or null',
    description: 'The archetype of spans that name none and whose user has none in the roster',
  }),
  unknown_skill: Type.Enum(['reject', 'register'], {
    description: 'Reject spans of unregistered skills, or register such a skill by a `skill_definition` record',
  }),
  ignore_operations: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    maxItems: 100,
    description: 'Values of `gen_ai.operation.name` whose spans are ignored',
    examples: [['embeddings']],
  }),
  rules: Type.Array(RuleSchema, {
    maxItems: rulesMax,
    description: 'Of the matching rules, the first that sets a member decides it',
  }),
}

export const OtlpMappingSchema = object(members, { title: 'OpenTelemetry mapping' })

/** Absent members have their defaults. */
export const OtlpMappingBody = Type.Partial(OtlpMappingSchema, { additionalProperties: false })

/** The tenant's part of the mapping of spans to events. */
export type OtlpMapping = Static<typeof OtlpMappingSchema>

export const defaultMapping: OtlpMapping = {
  default_skill_id: null,
  default_archetype_id: null,
  unknown_skill: 'reject',
  ignore_operations: [],
  rules: [],
}
