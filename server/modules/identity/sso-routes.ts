import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ConnectionTestResult } from '../../../contract/response-schemas.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import { addRoute, emptyBody } from '../../http/route.ts'
import { SsoConfiguration, SsoResponse } from './sso-schemas.ts'
import type { SsoService, SsoSettings } from './sso-service.ts'
import type { SsoTester } from './sso-tester.ts'

export function addSsoRoutes(app: FastifyInstance, sso: SsoService, trial: SsoTester): void {
  addRoute(
    app,
    'configureSso',
    {
      description:
        'Fetches the configuration of the OpenID provider and stores the connection. `sso:test` and the health of ' +
        'the tenant report whether it publishes keys. The same issuer and client id change the existing ' +
        'connection; others create a new one, and people are matched again by their addresses. Callers of this ' +
        'operation control who signs in as whom, administrators included, because the provider vouches for addresses.',
      body: SsoConfiguration,
      checkBody: (body: ValidParts<SsoSettings>) => sso.problemsIn(body),
      response: { 200: SsoResponse },
    },
    async (request) => sso.configure(request.caller.tenant, request.body, request.caller),
  )

  addRoute(
    app,
    'getSso',
    {
      description: 'Returns the stored configuration without the client secret.',
      response: { 200: SsoResponse },
      problems: ['not-found'],
    },
    async (request) => sso.get(request.caller.tenant),
  )

  addRoute(
    app,
    'removeSso',
    {
      description:
        'Ends sign-in by the provider. People stay and sign in by links. Open sessions continue for at most 8 ' +
        'hours; deactivate a person to end theirs at once. A later configuration is a new connection, and people ' +
        'are matched again by their addresses. Returns the same response if nothing is configured.',
      response: { 204: Type.Null() },
    },
    async (request, reply) => {
      await sso.remove(request.caller.tenant, request.caller)
      return reply.code(204).send()
    },
  )

  addRoute(
    app,
    'testSso',
    {
      description:
        'Tests the stored connection step by step and changes nothing. The last step sends an invalid code to the ' +
        'token endpoint, whose error shows whether the client is known.',
      body: emptyBody,
      bodyOptional: true,
      response: { 200: ConnectionTestResult },
      problems: ['not-found'],
    },
    async (request) => trial.run(request.caller.tenant),
  )
}
