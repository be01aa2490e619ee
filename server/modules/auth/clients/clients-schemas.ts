import { Type } from 'typebox'
import {
  authorizationPathLengthMax,
  clientNameLengthMax,
  clientRedirectLengthMax,
  clientRedirectsMax,
} from '../../../../contract/limits.ts'
import { object } from '../../../../contract/object-schema.ts'

const ClientName = Type.String({
  maxLength: clientNameLengthMax,
  description: 'Name for people, shown on the consent page beside the host of the redirect URI',
  examples: ['Claude Code'],
})
const RedirectUris = Type.Array(
  Type.String({
    maxLength: clientRedirectLengthMax,
    description: '`https://…`, or `http://` with 127.0.0.1, [::1] or localhost, whose port is free',
  }),
  { minItems: 1, maxItems: clientRedirectsMax, examples: [['http://127.0.0.1:33418/callback']] },
)

/** Allows further members: clients send some that the Hub does not use (RFC 7591, section 2). */
export const ClientMetadata = Type.Object(
  {
    redirect_uris: RedirectUris,
    client_name: Type.Optional(ClientName),
  },
  { additionalProperties: true, description: 'RFC 7591, section 2. Other members are ignored.' },
)

export const ClientInformation = object(
  {
    client_id: Type.String({ examples: ['hubc.WyJ4…'] }),
    client_id_issued_at: Type.Integer({ description: 'Seconds since 1970', examples: [1_790_000_000] }),
    client_name: ClientName,
    redirect_uris: Type.Array(Type.String(), { examples: [['http://127.0.0.1:33418/callback']] }),
    grant_types: Type.Array(Type.String(), { examples: [['authorization_code', 'refresh_token']] }),
    response_types: Type.Array(Type.String(), { examples: [['code']] }),
    token_endpoint_auth_method: Type.Literal('none', { description: 'Clients have no secret; they use PKCE' }),
  },
  { description: 'RFC 7591, section 3.2.1' },
)

const parameter = (description: string, example: string) =>
  Type.Optional(Type.String({ maxLength: authorizationPathLengthMax, description, examples: [example] }))

const parameters = {
  response_type: parameter('`code`', 'code'),
  client_id: parameter('Id from the registration', 'hubc.WyJ4…'),
  redirect_uri: parameter('A registered redirect URI; always required', 'http://127.0.0.1:33418/callback'),
  state: parameter('Returned unchanged', 'af0ifjsldkj'),
  scope: parameter('Space-delimited; names that the Hub does not know are ignored', 'hub:read telemetry:read'),
  resource: parameter('RFC 8707: the address of the Hub, or of its `/mcp`', 'https://hub.example.com/mcp'),
  code_challenge: parameter('RFC 7636; required', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'),
  code_challenge_method: parameter('`S256`; required', 'S256'),
}

/** Allows further parameters (RFC 6749, section 3.1), such as `prompt`. */
export const AuthorizationQuery = Type.Object(parameters, { additionalProperties: true })

/** Describes the form for the API reference only. `clients-routes.ts` reads its fields. */
export const ConsentForm = object({
  ...parameters,
  session: Type.String({ description: 'The session that the page was shown to' }),
  scopes: Type.Optional(Type.Array(Type.String(), { description: 'The chosen scopes' })),
  decision: Type.Enum(['approve', 'deny'], { examples: ['approve'] }),
})

export const ConsentPage = Type.String({
  contentMediaType: 'text/html',
  description: 'The consent page, or a page with a link if another site sent the browser here',
  examples: ['<!doctype html>…'],
})
