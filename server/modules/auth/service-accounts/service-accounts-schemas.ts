import { Type } from 'typebox'
import { NextCursor } from '../../../../contract/response-schemas.ts'
import { scopeNames } from '../../../../contract/scopes.ts'

export const nameLengthMax = 100
export const allowedAddressesMax = 50

const closed = { additionalProperties: false } as const
const timestamp = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2027-01-31T12:00:00.000000Z'] })
const ClientId = Type.String({ description: 'Id of the service account', examples: ['saJ4kQ8ZrT2vYw0LxNp6BdHs9A'] })
const ClientSecret = Type.String({
  description: 'Shown this once',
  examples: ['hubs2vYw0LxNp6BdHs9AJ4kQ8ZrT2vYw0LxNp6BdHs9AJ4kQ'],
})
const Name = Type.String({ minLength: 1, maxLength: nameLengthMax, examples: ['Nightly import'] })
const Scopes = Type.Array(Type.Enum(scopeNames), { minItems: 1, examples: [['hub:read', 'telemetry:write']] })
const ExpiresAt = timestamp('From then on the account gets no token, and none that it got lasts longer')
const AllowedAddresses = Type.Array(Type.String({ maxLength: 64 }), {
  minItems: 1,
  maxItems: allowedAddressesMax,
  description: 'Addresses and networks (CIDR) that the account may be used from; without them it is anywhere',
  examples: [['203.0.113.0/24', '2001:db8::/32']],
})

export const AccountParams = Type.Object({ client_id: ClientId }, closed)

export const NewAccountBody = Type.Object(
  {
    name: Name,
    scopes: Scopes,
    expires_at: Type.Optional(ExpiresAt),
    allowed_addresses: Type.Optional(AllowedAddresses),
  },
  closed,
)

export const AccountChangesBody = Type.Object(
  {
    name: Type.Optional(Name),
    scopes: Type.Optional(Scopes),
    expires_at: Type.Optional(Type.Union([ExpiresAt, Type.Null()], { description: 'null: never' })),
    allowed_addresses: Type.Optional(Type.Union([AllowedAddresses, Type.Null()], { description: 'null: anywhere' })),
  },
  closed,
)

export const CredentialsAnswer = Type.Object(
  {
    client_id: ClientId,
    client_secret: ClientSecret,
    name: Name,
    tenant: Type.String({ examples: ['acme'] }),
    scopes: Scopes,
    created_at: timestamp('When it was made'),
    expires_at: Type.Optional(ExpiresAt),
    allowed_addresses: Type.Optional(AllowedAddresses),
  },
  closed,
)

export const AccountAnswer = Type.Object(
  {
    client_id: ClientId,
    name: Name,
    scopes: Scopes,
    created_at: timestamp('When it was made'),
    last_used_at: Type.Optional(timestamp('When it last got a token, to the minute')),
    disabled_at: Type.Optional(timestamp('When it was disabled, for good')),
    expires_at: Type.Optional(ExpiresAt),
    allowed_addresses: Type.Optional(AllowedAddresses),
    secrets: Type.Array(
      Type.Object(
        {
          created_at: timestamp('When it was made'),
          expires_at: Type.Optional(timestamp('When it ends, because another took its place')),
        },
        closed,
      ),
      { description: 'Those that are live, oldest first; never the secrets themselves' },
    ),
  },
  closed,
)

export const AccountList = Type.Object({ items: Type.Array(AccountAnswer), next_cursor: NextCursor }, closed)

export const RotatedSecretAnswer = Type.Object(
  {
    client_id: ClientId,
    client_secret: ClientSecret,
    previous_secret_expires_at: timestamp('Until then the secret before this one is good too'),
  },
  closed,
)
