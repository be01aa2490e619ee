import { Type } from 'typebox'
import { archetypesMax } from '../../../contract/limits.ts'
import { patterns } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'
import { NextCursor } from '../../../contract/response-schemas.ts'
import { GroupId } from './users/users-schemas.ts'

export const GroupParams = object({ group_id: GroupId })

const time = (description: string) => Type.String({ description, examples: ['2026-07-01T09:30:00.000000Z'] })

const GroupSchema = object({
  group_id: GroupId,
  display_name: Type.String({ examples: ['Support'] }),
  external_id: Type.Optional(Type.String({ examples: ['00g1ab2cd3ef4'] })),
  member_count: Type.Integer({ examples: [12] }),
  archetype_ids: Type.Array(Type.String({ examples: ['support-agent'] }), {
    description: 'Archetypes of its members, by the mapping of the SCIM configuration',
  }),
  created_at: time('Time of its creation by the directory'),
  updated_at: time('Time of the last change of the group or its members'),
})

export const GroupList = object({ items: Type.Array(GroupSchema), next_cursor: NextCursor })

const GroupMemberSchema = object({
  user_id: Type.String({ examples: ['usr_7Kd2mQx9RtVb4LhZs8WcNp3F'] }),
  user_name: Type.String({ examples: ['kim.lee'] }),
  email: Type.String({ description: 'Empty if the directory has none', examples: ['kim@acme.example'] }),
  display_name: Type.Optional(Type.String({ examples: ['Kim Lee'] })),
  active: Type.Boolean(),
})

export const GroupMemberList = object({ items: Type.Array(GroupMemberSchema), next_cursor: NextCursor })

const ArchetypeSchema = object({
  archetype_id: Type.String({ pattern: patterns.identifier, examples: ['support-agent'] }),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, examples: ['Support agent'] })),
})

export const ArchetypeBundleSchema = object({
  archetypes: Type.Array(ArchetypeSchema, { maxItems: archetypesMax, description: 'The whole bundle' }),
})

export const ArchetypeList = object({
  items: Type.Array(ArchetypeSchema),
  next_cursor: NextCursor,
})
