import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../http/route.ts'
import { SsoAnswer, SsoConfiguration } from './sso-schemas.ts'
import type { SsoService } from './sso-service.ts'

export function addSsoRoutes(app: FastifyInstance, sso: SsoService): void {
  addRoute(
    app,
    'configureSso',
    {
      description:
        'Fetches the configuration of the OpenID provider and keeps the connection. The same issuer and client id ' +
        'change the connection that is there; others make a new one, and people are known anew by their addresses. ' +
        'Whoever may call this decides who comes in as whom, as administrator too: the provider vouches for addresses.',
      body: SsoConfiguration,
      response: { 200: SsoAnswer },
    },
    async (request) => sso.configure(request.caller.tenant, request.body, request.caller),
  )

  addRoute(app, 'getSso', { response: { 200: SsoAnswer }, problems: ['not-found'] }, async (request) =>
    sso.get(request.caller.tenant),
  )
}
