import { Type } from 'typebox'
import { patterns, skillStates } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'
import { NextCursor } from '../../../contract/response-schemas.ts'

const StateSchema = Type.Enum(skillStates, {
  description: 'draft → published → deprecated → retired, and deprecated → published',
  examples: ['published'],
})

const erasedName = 'empty after the erasure of its skill_definition'

const Moment = Type.String({ format: 'date-time', examples: ['2026-01-05T09:30:00.000000Z'] })

export const SkillSchema = object({
  skill_id: Type.String({ pattern: patterns.identifier, examples: ['summarise-ticket'] }),
  state: StateSchema,
  name: Type.String({
    description: `Name of the latest version; ${erasedName}`,
    examples: ['Summarise a ticket'],
  }),
  registered_at: Moment,
  updated_at: Moment,
  versions: Type.Array(
    object({
      skill_version: Type.String({ examples: ['1.0.0'] }),
      state: StateSchema,
      name: Type.String({ description: `Name of the version; ${erasedName}`, examples: ['Summarise a ticket'] }),
      record_id: Type.String({ format: 'uuid', description: 'The skill_definition record of the version' }),
      registered_at: Moment,
    }),
    { description: 'In the order of registration' },
  ),
})

export const SkillList = object({
  items: Type.Array(SkillSchema),
  next_cursor: NextCursor,
})

export const SkillParams = object({
  skill_id: Type.String({ description: 'Id of the skill', examples: ['summarise-ticket'] }),
})

export const TransitionBody = object({ state: StateSchema })
