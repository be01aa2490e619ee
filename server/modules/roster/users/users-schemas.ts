import { Type } from 'typebox'
import { NextCursor } from '../../../../contract/answer-schemas.ts'
import { emailLengthMax } from '../../../../contract/email-address.ts'
import { displayNameLengthMax } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import { roleNames } from '../../../../contract/roles.ts'

const exampleId = 'usr_7Kd2mQx9RtVb4LhZs8WcNp3F'

const UserId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Of the user: `sub` of their tokens, `created_by` of their records',
  examples: [exampleId],
})
const Email = Type.String({ pattern: patterns.email, maxLength: emailLengthMax, examples: ['kim@acme.example'] })
const RoleName = Type.Enum(roleNames, { examples: ['analyst'] })
const DisplayName = Type.String({
  maxLength: displayNameLengthMax,
  pattern: '^[^\\s\\p{C}]([^\\p{C}]*[^\\s\\p{C}])?$',
  'x-must-be': `1 to ${displayNameLengthMax} characters without line breaks, or spaces at its ends`,
  examples: ['Kim Lee'],
})
const time = (description: string) => Type.String({ description, examples: ['2026-07-01T09:30:00.000000Z'] })

export const UserParams = Type.Object({ user_id: UserId }, { additionalProperties: false })

export const UsersQuery = Type.Object(
  {
    ...PageQuery.properties,
    role: Type.Optional(RoleName),
    active: Type.Optional(Type.Boolean({ description: 'Without it, both' })),
    email: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: emailLengthMax,
        description: 'The whole address; lower and upper case are the same',
        examples: ['kim@acme.example'],
      }),
    ),
  },
  { additionalProperties: false },
)

export const NewUserBody = Type.Object(
  { email: Email, display_name: Type.Optional(DisplayName), role: Type.Optional(RoleName) },
  { additionalProperties: false },
)

export const UserSchema = Type.Object(
  {
    user_id: UserId,
    email: Type.String({ description: 'As it was given', examples: ['kim@acme.example'] }),
    display_name: Type.Optional(Type.String({ examples: ['Kim Lee'] })),
    role: RoleName,
    active: Type.Boolean({ description: 'Whether the person may sign in' }),
    created_at: time('When the user was added'),
    last_sign_in_at: Type.Optional(time('Absent until the first time')),
    deactivated_at: Type.Optional(time('Absent while the user is active')),
  },
  { additionalProperties: false },
)

export const UserList = Type.Object(
  { items: Type.Array(UserSchema), next_cursor: NextCursor },
  { additionalProperties: false },
)

export const RoleBody = Type.Object({ role: RoleName }, { additionalProperties: false })

export const UserRoleSchema = Type.Object({ user_id: UserId, role: RoleName }, { additionalProperties: false })

export const userLocation = { location: Type.String({ description: 'The user' }) }
