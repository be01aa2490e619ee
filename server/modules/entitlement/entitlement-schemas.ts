import { Type } from 'typebox'
import { patterns, skillStates } from '../../../contract/literals.ts'
import { NextCursor } from '../../../contract/response-schemas.ts'

const StateSchema = Type.Enum(skillStates, {
  description: 'draft → published → deprecated → retired, and deprecated → published',
  examples: ['published'],
})

const erasedName = 'empty after the erasure of its skill_definition'

const Moment = Type.String({ format: 'date-time', examples: ['2026-01-05T09:30:00.000000Z'] })

export const SkillSchema = Type.Object(
  {
    skill_id: Type.String({ pattern: patterns.identifier, examples: ['summarise-ticket'] }),
    state: StateSchema,
    name: Type.String({
      description: `Name of the latest version; ${erasedName}`,
      examples: ['Summarise a ticket'],
    }),
    registered_at: Moment,
    updated_at: Moment,
    versions: Type.Array(
      Type.Object(
        {
          skill_version: Type.String({ examples: ['1.0.0'] }),
          state: StateSchema,
          name: Type.String({ description: `Name of the version; ${erasedName}`, examples: ['Summarise a ticket'] }),
          record_id: Type.String({ format: 'uuid', description: 'The skill_definition record of the version' }),
          registered_at: Moment,
        },
        { additionalProperties: false },
      ),
      { description: 'In the order of registration' },
    ),
  },
  { additionalProperties: false },
)

export const SkillList = Type.Object(
  {
    items: Type.Array(SkillSchema),
    next_cursor: NextCursor,
  },
  { additionalProperties: false },
)

export const SkillParams = Type.Object(
  { skill_id: Type.String({ description: 'Id of the skill', examples: ['summarise-ticket'] }) },
  { additionalProperties: false },
)

export const TransitionBody = Type.Object({ state: StateSchema }, { additionalProperties: false })
