import type { FastifyInstance } from 'fastify'
import { scopeNames } from '../../../contract/scopes.ts'
import { countHeader } from '../../http/request-headers.ts'
import { addRoute } from '../../http/route.ts'
import { openToEveryOrigin } from '../../http/security-headers.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { ServerMetadata, TokenForm, TokenHeaders, TokenResponse } from './auth-schemas.ts'
import type { TokenService } from './auth-types.ts'
import type { ClientTokenExchange } from './clients/client-token-exchange.ts'
import { readGrantRequest } from './clients/grant-request.ts'
import { invalidClient, readTokenRequest } from './tokens/token-request.ts'

export function addAuthRoutes(
  app: FastifyInstance,
  deps: {
    tokens: TokenService
    directory: TenantDirectory
    clients: Pick<ClientTokenExchange, 'issue'>
  },
): void {
  addRoute(
    app,
    'issueServiceToken',
    {
      description:
        'OAuth 2.0. For a service account: client credentials (RFC 6749, section 4.4), with the secret in the body or ' +
        'by HTTP Basic. For a client that a person authorized: authorization code with PKCE, and refresh tokens, ' +
        'each valid once. For 20 seconds after its use a refresh token returns the same successor; a later use, and ' +
        'a second use of a code, end the authorization. Errors also have `error` and `error_description`.',
      headers: TokenHeaders,
      body: TokenForm,
      bodyFormat: 'form',
      oauthErrors: true,
      credentials: ['clientBasic', 'body'],
      response: { 200: TokenResponse },
      problems: ['address-not-allowed'],
    },
    async (request, reply) => {
      if (countHeader(request, 'authorization') > 1) throw invalidClient('The Authorization header is repeated.')
      const form = request.body ?? {}
      const origin = {
        address: request.callerAddress,
        requestId: request.id,
        hostTenant: request.hostTenant?.slug,
      }
      const charges = request.credentialCharges
      const grant = readGrantRequest(form, request.headers)
      const token = grant
        ? await deps.clients.issue(grant, charges, origin)
        : await deps.tokens.issue(readTokenRequest(form, request.headers), charges, origin)
      // RFC 6749, section 5.1 requires both headers.
      reply.header('cache-control', 'no-store')
      reply.header('pragma', 'no-cache')
      return token
    },
  )

  addRoute(
    app,
    'getOAuthMetadata',
    {
      description: 'Returns the endpoints and the supported grants (RFC 8414).',
      response: { 200: ServerMetadata },
    },
    async (request, reply) => {
      const issuer = request.hostTenant?.baseUrl ?? deps.directory.commonUrl()
      openToEveryOrigin(reply, 60)
      return {
        issuer,
        authorization_endpoint: `${issuer}/api/v1/oauth/authorize`,
        token_endpoint: `${issuer}/api/v1/oauth/token`,
        registration_endpoint: `${issuer}/api/v1/oauth/register`,
        jwks_uri: `${issuer}/.well-known/jwks.json`,
        scopes_supported: [...scopeNames],
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['client_credentials', 'authorization_code', 'refresh_token'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        service_documentation: `${issuer}/`,
      }
    },
  )
}
