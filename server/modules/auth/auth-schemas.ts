import { Type } from 'typebox'
import { scopeNames } from '../../../contract/scopes.ts'

/**
 * Describes the form for the API reference only. token-request.ts reads the form and ignores other fields (RFC 6749,
 * 3.2).
 */
export const TokenForm = Type.Object({
  grant_type: Type.Enum(['client_credentials', 'authorization_code', 'refresh_token'], {
    description: 'The last two are for clients that a person authorized',
    examples: ['client_credentials'],
  }),
  client_id: Type.Optional(
    Type.String({ description: 'In the body or by HTTP Basic, not both', examples: ['saJ4kQ8ZrT2vYw0LxNp6BdHs9'] }),
  ),
  client_secret: Type.Optional(Type.String({ format: 'password' })),
  scope: Type.Optional(
    Type.String({
      description: 'Space-delimited subset of the assigned or authorized scopes; default is all of them',
      examples: ['hub:read telemetry:write'],
    }),
  ),
  code: Type.Optional(Type.String({ description: 'With `authorization_code`: the code, valid once and for a minute' })),
  redirect_uri: Type.Optional(
    Type.String({
      description: 'With `authorization_code`: that of the authorization request',
      examples: ['http://127.0.0.1:33418/callback'],
    }),
  ),
  code_verifier: Type.Optional(Type.String({ description: 'With `authorization_code`: RFC 7636, section 4.1' })),
  refresh_token: Type.Optional(Type.String({ description: 'With `refresh_token`: that of the last response' })),
  resource: Type.Optional(
    Type.String({
      description: 'RFC 8707; if given, that of the authorization request',
      examples: ['https://hub.example.com/mcp'],
    }),
  ),
})

export const TokenHeaders = Type.Object({
  'x-service-tenant': Type.Optional(
    Type.String({ description: 'Optional, because the client belongs to one tenant. Any other tenant is refused.' }),
  ),
})

export const TokenResponse = Type.Object(
  {
    access_token: Type.String({
      description: 'A JWT (RFC 9068)',
      examples: ['eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6Ik…'],
    }),
    expires_in: Type.Integer({ description: 'Seconds', examples: [3600] }),
    token_type: Type.Literal('Bearer'),
    scope: Type.String({ examples: ['hub:read telemetry:write'] }),
    refresh_token: Type.Optional(
      Type.String({ description: 'For an authorized client: a JWT that is valid once and for this client only' }),
    ),
    refresh_expires_in: Type.Optional(
      Type.Integer({
        description: 'Seconds until the authorization ends; refreshing does not extend it',
        examples: [28_800],
      }),
    ),
  },
  { additionalProperties: false },
)

/** The response with a user token (interface 2.7). */
export const UserTokenResponse = Type.Object(
  {
    access_token: Type.String({
      description: 'A JWT (RFC 9068)',
      examples: ['eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6Ik…'],
    }),
    expires_in: Type.Integer({ description: 'Seconds', examples: [300] }),
    token_type: Type.Literal('Bearer'),
    refresh_token: Type.String({
      description: 'A JWT that is valid only together with the cookie `__Secure-service_refresh`',
      examples: ['eyJhbGciOiJFUzI1NiIsInR5cCI6InJlZnJlc2grand0IiwiaXNzIjoi…'],
    }),
    refresh_expires_in: Type.Integer({
      description: 'Seconds until the session ends; refreshing does not extend it',
      examples: [28_800],
    }),
  },
  { additionalProperties: false },
)

const Names = (...names: string[]) => Type.Array(Type.String(), { examples: [names] })

export const ServerMetadata = Type.Object(
  {
    issuer: Type.String({ examples: ['https://hub.example.com'] }),
    authorization_endpoint: Type.String({ examples: ['https://hub.example.com/api/v1/oauth/authorize'] }),
    token_endpoint: Type.String({ examples: ['https://hub.example.com/api/v1/oauth/token'] }),
    registration_endpoint: Type.String({ examples: ['https://hub.example.com/api/v1/oauth/register'] }),
    jwks_uri: Type.String({ examples: ['https://hub.example.com/.well-known/jwks.json'] }),
    scopes_supported: Names(...scopeNames),
    response_types_supported: Names('code'),
    response_modes_supported: Names('query'),
    grant_types_supported: Names('client_credentials', 'authorization_code', 'refresh_token'),
    token_endpoint_auth_methods_supported: Names('client_secret_basic', 'client_secret_post', 'none'),
    code_challenge_methods_supported: Names('S256'),
    authorization_response_iss_parameter_supported: Type.Boolean({ description: 'RFC 9207', examples: [true] }),
    service_documentation: Type.String({ examples: ['https://hub.example.com/'] }),
  },
  { additionalProperties: false, description: 'RFC 8414, section 2' },
)
