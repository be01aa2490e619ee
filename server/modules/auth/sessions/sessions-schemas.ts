import { Type } from 'typebox'
import { NextCursor } from '../../../../contract/response-schemas.ts'
import { roleNames } from '../../../../contract/roles.ts'
import { scopeNames } from '../../../../contract/scopes.ts'

const closed = { additionalProperties: false } as const

const SessionId = Type.String({
  pattern: '^ses_[A-Za-z0-9_-]{1,64}$',
  'x-must-be': 'the id of a session, which starts with ses_',
  description: 'Id of the session',
  examples: ['ses_4Kq8ZrT2vYw0LxNp6BdHs9Aj'],
})
const Method = Type.Enum(['oidc', 'magic_link', 'welcome_link', 'mock'], {
  description: 'How the person signed in',
  examples: ['oidc'],
})
const CreatedAt = Type.String({ format: 'date-time', examples: ['2026-10-05T08:00:00.250000Z'] })
const ExpiresAt = Type.String({
  format: 'date-time',
  description: 'Eight hours after the sign-in, regardless of refreshes',
  examples: ['2026-10-05T16:00:00.000000Z'],
})

/** Requires both members or neither. The handler checks that, because each error points to the other member. */
export const RefreshBody = Type.Object(
  {
    grant_type: Type.Optional(
      Type.Literal('refresh_token', { description: 'With `refresh_token`; without both, the session cookie is used' }),
    ),
    refresh_token: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'Refresh token of the last response; the cookie `__Secure-service_refresh` is also required',
        examples: ['eyJhbGciOiJIUzI1NiIsInR5cCI6InJlZnJlc2grand0In0…'],
      }),
    ),
  },
  closed,
)

export const LogoutBody = Type.Object(
  {
    everywhere: Type.Optional(
      Type.Boolean({ description: 'All sessions of the person, on every device', default: false }),
    ),
  },
  closed,
)

/** Makes the tenant header optional: no credential of these operations needs it. */
export const OptionalTenantHeader = Type.Object({
  'x-service-tenant': Type.Optional(
    Type.String({
      description: 'Optional, because the credential belongs to one tenant. Any other tenant is refused.',
    }),
  ),
})

export const SessionParams = Type.Object({ session_id: SessionId }, closed)

export const MeResponse = Type.Object(
  {
    kind: Type.Enum(['user', 'service_account'], { examples: ['user'] }),
    subject: Type.String({
      description: '`sub` of tokens, `created_by` of records',
      examples: ['usr_7GqX2mZkP0aVbN4sT9cYw1Ld'],
    }),
    tenant: Type.String({ examples: ['acme'] }),
    scopes: Type.Array(Type.Enum(scopeNames), { examples: [['hub:read', 'telemetry:read']] }),
    user_id: Type.Optional(Type.String({ examples: ['usr_7GqX2mZkP0aVbN4sT9cYw1Ld'] })),
    email: Type.Optional(Type.String({ examples: ['kim@acme.example'] })),
    display_name: Type.Optional(Type.String({ examples: ['Kim Larsen'] })),
    role: Type.Optional(Type.Enum(roleNames, { examples: ['analyst'] })),
    client_id: Type.Optional(Type.String({ description: 'Id of a service account' })),
    name: Type.Optional(Type.String({ description: 'Id of a service account' })),
    session: Type.Optional(
      Type.Object({ session_id: SessionId, method: Method, created_at: CreatedAt, expires_at: ExpiresAt }, closed),
    ),
  },
  closed,
)

export const SessionList = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          session_id: SessionId,
          method: Method,
          created_at: CreatedAt,
          expires_at: ExpiresAt,
          address: Type.String({ description: 'Client address at sign-in', examples: ['203.0.113.7'] }),
          user_agent: Type.Optional(Type.String({ examples: ['Mozilla/5.0 (X11; Linux x86_64) Firefox/147.0'] })),
          client_name: Type.Optional(
            Type.String({
              description: 'Name of the OAuth client that the person authorized, as the client states it',
              examples: ['Claude Code'],
            }),
          ),
          current: Type.Boolean({ description: 'Whether it is the session of this request', examples: [true] }),
        },
        closed,
      ),
    ),
    next_cursor: NextCursor,
  },
  closed,
)
