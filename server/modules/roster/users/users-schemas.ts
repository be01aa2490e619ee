import { Type } from 'typebox'
import { emailLengthMax } from '../../../../contract/email-address.ts'
import { displayNameLengthMax, userArchetypesMax } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import { object } from '../../../../contract/object-schema.ts'
import { displayName, PageQuery } from '../../../../contract/request-schemas.ts'
import { NextCursor } from '../../../../contract/response-schemas.ts'
import { roleNames } from '../../../../contract/roles.ts'

const exampleId = 'usr_7Kd2mQx9RtVb4LhZs8WcNp3F'

const UserId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the user: `sub` of their tokens, `created_by` of their records',
  examples: [exampleId],
})
export const GroupId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of a group of the directory',
  examples: ['grp_5Tq8nLw2KzVd6YhXs9RbMp4C'],
})
const ArchetypeId = Type.String({
  pattern: patterns.identifier,
  description: 'Id of an archetype',
  examples: ['support-agent'],
})
const ArchetypeIds = Type.Array(ArchetypeId, { description: 'Version of the bundle' })
const Email = Type.String({ pattern: patterns.email, maxLength: emailLengthMax, examples: ['kim@acme.example'] })
const RoleName = Type.Enum(roleNames, { description: 'Role of the person', examples: ['analyst'] })
const DisplayName = displayName({ examples: ['Kim Lee'] })
const time = (description: string) => Type.String({ description, examples: ['2026-07-01T09:30:00.000000Z'] })

export const UserParams = object({ user_id: UserId })

export const UsersQuery = object({
  ...PageQuery.properties,
  role: Type.Optional(RoleName),
  active: Type.Optional(Type.Boolean({ description: 'Default is both' })),
  email: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: emailLengthMax,
      description: 'The whole address, case-insensitive',
      examples: ['kim@acme.example'],
    }),
  ),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: displayNameLengthMax,
      description: 'Part of the address or name, case-insensitive',
      examples: ['kim'],
    }),
  ),
  group_id: Type.Optional(GroupId),
  archetype_id: Type.Optional(ArchetypeId),
  matched: Type.Optional(
    Type.Boolean({ description: '`false` returns the active people of the directory without an archetype' }),
  ),
})

export const NewUserBody = object({
  email: Email,
  display_name: Type.Optional(DisplayName),
  role: Type.Optional(RoleName),
})

export const UserSchema = object({
  user_id: UserId,
  email: Type.String({
    description: 'Name as entered; empty if the directory has none',
    examples: ['kim@acme.example'],
  }),
  directory_email: Type.Optional(
    Type.String({
      description:
        'Address in the directory if the Hub does not apply it: because the role is above `member`, or because ' +
        'another person has the address',
      examples: ['kim.lee@acme.example'],
    }),
  ),
  user_name: Type.Optional(Type.String({ description: 'Id in the directory', examples: ['kim.lee'] })),
  external_id: Type.Optional(Type.String({ description: 'Id in the directory', examples: ['00u1ab2cd3ef4'] })),
  display_name: Type.Optional(Type.String({ examples: ['Kim Lee'] })),
  role: RoleName,
  active: Type.Boolean({ description: 'Whether the person can sign in' }),
  source: Type.Enum(['directory', 'manual'], {
    description: '`directory`: the person is managed by the directory, by SCIM',
    examples: ['directory'],
  }),
  archetype_ids: ArchetypeIds,
  matched: Type.Boolean({ description: '`false` for an active person of the directory without an archetype' }),
  created_at: time('When the user was added'),
  last_sign_in_at: Type.Optional(time('Absent before the first sign-in')),
  deactivated_at: Type.Optional(time('Absent while the user is active')),
})

export const UserList = object({ items: Type.Array(UserSchema), next_cursor: NextCursor })

export const RoleBody = object({ role: RoleName })

export const UserRoleSchema = object({ user_id: UserId, role: RoleName })

export const UserArchetypesBody = object({
  archetype_ids: Type.Array(ArchetypeId, {
    maxItems: userArchetypesMax,
    uniqueItems: true,
    description: 'All archetypes of the person, from the bundle. An empty list removes all.',
  }),
})

export const UserArchetypesSchema = object({
  user_id: UserId,
  archetype_ids: ArchetypeIds,
  source: Type.Enum(['group', 'manual'], {
    description: 'Source of the assignment: the groups of the directory, or an administrator',
    examples: ['group'],
  }),
})

export const userLocation = { location: Type.String({ description: 'The user' }) }
