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
  description: 'Returned only once',
  examples: ['hubs2vYw0LxNp6BdHs9AJ4kQ8ZrT2vYw0LxNp6BdHs9AJ4kQ'],
})
const Name = Type.String({ minLength: 1, maxLength: nameLengthMax, examples: ['Nightly import'] })
const Scopes = Type.Array(Type.Enum(scopeNames), { minItems: 1, examples: [['hub:read', 'telemetry:write']] })
const ExpiresAt = timestamp('The account gets no tokens after this time, and no token is valid longer')
const AllowedAddresses = Type.Array(Type.String({ maxLength: 64 }), {
  minItems: 1,
  maxItems: allowedAddressesMax,
  description: 'Addresses and networks (CIDR) from which the account can be used; any if absent',
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
    expires_at: Type.Optional(Type.Union([ExpiresAt, Type.Null()], { description: 'null: no expiry' })),
    allowed_addresses: Type.Optional(Type.Union([AllowedAddresses, Type.Null()], { description: 'null: any address' })),
  },
  closed,
)

export const CredentialsResponse = Type.Object(
  {
    client_id: ClientId,
    client_secret: ClientSecret,
    name: Name,
    tenant: Type.String({ examples: ['acme'] }),
    scopes: Scopes,
    created_at: timestamp('Time of creation'),
    expires_at: Type.Optional(ExpiresAt),
    allowed_addresses: Type.Optional(AllowedAddresses),
  },
  closed,
)

export const AccountResponse = Type.Object(
  {
    client_id: ClientId,
    name: Name,
    scopes: Scopes,
    created_at: timestamp('Time of creation'),
    last_used_at: Type.Optional(timestamp('When it last got a token, to the minute')),
    disabled_at: Type.Optional(timestamp('Time of the permanent deactivation')),
    expires_at: Type.Optional(ExpiresAt),
    allowed_addresses: Type.Optional(AllowedAddresses),
    secrets: Type.Array(
      Type.Object(
        {
          created_at: timestamp('Time of creation'),
          expires_at: Type.Optional(timestamp('Expiry, because another secret replaced it')),
        },
        closed,
      ),
      { description: 'Active secrets, oldest first, without their values' },
    ),
  },
  closed,
)

export const AccountList = Type.Object({ items: Type.Array(AccountResponse), next_cursor: NextCursor }, closed)

export const RotatedSecretResponse = Type.Object(
  {
    client_id: ClientId,
    client_secret: ClientSecret,
    previous_secret_expires_at: timestamp('The previous secret stays valid until this time'),
  },
  closed,
)
