import type { FastifyInstance } from 'fastify'
import { scopeNames } from '../../../contract/scopes.ts'
import { countHeader } from '../../http/request-headers.ts'
import { addRoute } from '../../http/route.ts'
import { openToEveryOrigin } from '../../http/security-headers.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { ServerMetadata, TokenAnswer, TokenForm, TokenHeaders } from './auth-schemas.ts'
import type { TokenService } from './auth-types.ts'
import { invalidClient, readTokenRequest } from './tokens/token-request.ts'

export function addAuthRoutes(
  app: FastifyInstance,
  deps: {
    tokens: TokenService
    directory: TenantDirectory
  },
): void {
  addRoute(
    app,
    'issueServiceToken',
    {
      description:
        'OAuth 2.0 client credentials (RFC 6749, section 4.4). Send the secret in the body or by HTTP Basic. ' +
        'Errors also have `error` and `error_description`.',
      headers: TokenHeaders,
      body: TokenForm,
      bodyFormat: 'form',
      oauthErrors: true,
      credentials: ['clientBasic', 'body'],
      response: { 200: TokenAnswer },
      problems: ['address-not-allowed'],
    },
    async (request, reply) => {
      if (countHeader(request, 'authorization') > 1) throw invalidClient('The Authorization header is repeated.')
      const tokenRequest = readTokenRequest(request.body ?? {}, request.headers)
      const origin = {
        address: request.callerAddress,
        requestId: request.id,
        hostTenant: request.hostTenant?.slug,
      }
      const token = await deps.tokens.issue(tokenRequest, request.credentialCharges, origin)
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
      description: 'Returns the token endpoint and the supported grants (RFC 8414).',
      response: { 200: ServerMetadata },
    },
    async (request, reply) => {
      const issuer = request.hostTenant?.baseUrl ?? deps.directory.commonUrl()
      openToEveryOrigin(reply, 60)
      return {
        issuer,
        token_endpoint: `${issuer}/api/v1/oauth/token`,
        jwks_uri: `${issuer}/.well-known/jwks.json`,
        scopes_supported: [...scopeNames],
        response_types_supported: [],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
        service_documentation: `${issuer}/`,
      }
    },
  )
}
