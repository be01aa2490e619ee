import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../contract/domain-error.ts'
import { scopeNames } from '../../../contract/scopes.ts'
import { addRoute } from '../../http/route.ts'
import { openToEveryOrigin } from '../../http/security-headers.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { ServerMetadata, TokenAnswer, TokenForm, TokenHeaders } from './auth-schemas.ts'
import type { TokenService } from './auth-types.ts'
import { readTokenRequest } from './tokens/token-request.ts'

const challenge = 'Basic realm="Org-Memory Hub"'

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
        'OAuth 2.0 client credentials (RFC 6749, section 4.4). The secret comes in the body or by HTTP Basic. ' +
        'Errors also carry `error` and `error_description`.',
      headers: TokenHeaders,
      body: TokenForm,
      bodyFormat: 'form',
      oauthErrors: true,
      credentials: ['clientBasic', 'body'],
      response: { 200: TokenAnswer },
      problems: ['address-not-allowed'],
    },
    challengingBasic(async (request, reply) => {
      const tokenRequest = readTokenRequest(request.body ?? {}, request.headers)
      const origin = {
        address: request.callerAddress,
        requestId: request.id,
        servedTenant: request.hostTenant?.slug,
      }
      const token = await deps.tokens.issue(tokenRequest, request.credentialCharges, origin)
      // RFC 6749, section 5.1 asks for both.
      reply.header('cache-control', 'no-store')
      reply.header('pragma', 'no-cache')
      return token
    }),
  )

  addRoute(app, 'getOAuthMetadata', { response: { 200: ServerMetadata } }, async (request, reply) => {
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
  })
}

/** A refused Authorization header is answered with a challenge, a refused body is not (RFC 6749, section 5.2). */
function challengingBasic<Request extends Pick<FastifyRequest, 'headers'>, Answer>(
  handler: (request: Request, reply: FastifyReply) => Promise<Answer>,
): (request: Request, reply: FastifyReply) => Promise<Answer> {
  return (request, reply) =>
    handler(request, reply).catch((error: unknown) => {
      const refused = error instanceof DomainError && error.slug === 'authentication-failed'
      if (refused && request.headers.authorization !== undefined) reply.header('www-authenticate', challenge)
      throw error
    })
}
