import { Type } from 'typebox'
import { archetypesMax } from '../../../contract/limits.ts'
import { patterns } from '../../../contract/literals.ts'
import { NextCursor } from '../../../contract/response-schemas.ts'

const ArchetypeSchema = Type.Object(
  {
    archetype_id: Type.String({ pattern: patterns.identifier, examples: ['support-agent'] }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, examples: ['Support agent'] })),
  },
  { additionalProperties: false },
)

export const ArchetypeBundleSchema = Type.Object(
  { archetypes: Type.Array(ArchetypeSchema, { maxItems: archetypesMax, description: 'The whole bundle' }) },
  { additionalProperties: false },
)

export const ArchetypeList = Type.Object(
  {
    items: Type.Array(ArchetypeSchema),
    next_cursor: NextCursor,
  },
  { additionalProperties: false },
)
