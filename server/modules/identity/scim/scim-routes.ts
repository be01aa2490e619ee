import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ConnectionTestResult } from '../../../../contract/response-schemas.ts'
import type { ValidParts } from '../../../http/body/valid-parts.ts'
import { addRoute, emptyBody } from '../../../http/route.ts'
import { RotatedSecretSchema, ScimConfigurationBody, ScimState } from './scim-schemas.ts'
import type { ScimService } from './scim-service.ts'
import type { ScimSettings } from './scim-settings.ts'
import type { ScimTester } from './scim-tester.ts'

export function addScimRoutes(app: FastifyInstance, scim: ScimService, trial: ScimTester): void {
  addRoute(
    app,
    'configureScim',
    {
      description:
        'Connects the directory of the company. With `push` the directory sends changes to `scim_base_url` with ' +
        'the bearer token, which is returned only when it is new: at first, and after a change from `pull`. With ' +
        '`pull` the Hub reads the directory at `base_url`, at `roster/scim:sync` and every 30 minutes. A changed ' +
        'map assigns archetypes again; an archetype that the tenant does not have yet takes effect when `PUT ' +
        '/api/v1/roster/archetypes` adds it. The first configuration returns, in `inbound`, a secret for messages ' +
        'of the identity provider.',
      body: ScimConfigurationBody,
      checkBody: (body: ValidParts<ScimSettings>) => scim.problemsIn(body),
      response: { 200: ScimState },
      problems: ['concurrent-modification'],
    },
    async (request) => scim.configure(request.caller.tenant, request.body, request.caller),
  )

  addRoute(
    app,
    'getScim',
    {
      description: 'Returns the stored configuration without tokens.',
      response: { 200: ScimState },
      problems: ['not-found'],
    },
    async (request) => scim.get(request.caller.tenant),
  )

  addRoute(
    app,
    'removeScim',
    {
      description:
        'Disconnects the directory and cancels a running sync. People, groups and archetypes stay. Returns the ' +
        'same response if nothing is configured.',
      response: { 204: Type.Null() },
    },
    async (request, reply) => {
      await scim.remove(request.caller.tenant, request.caller)
      return reply.code(204).send()
    },
  )

  addRoute(
    app,
    'rotateScimToken',
    {
      description: 'Only with `push`. The previous token stays valid for 24 hours, and any older one ends at once.',
      body: emptyBody,
      bodyOptional: true,
      response: { 200: ScimState },
      problems: ['not-found', 'concurrent-modification'],
    },
    async (request) => scim.rotateToken(request.caller.tenant, request.caller),
  )

  addRoute(
    app,
    'rotateScimInboundSecret',
    {
      description:
        'Creates the secret that signs messages of the identity provider, with `push` and with `pull`. The previous ' +
        'one stays valid for 24 hours, and any older one ends at once. A configuration without a secret gets its first.',
      body: emptyBody,
      bodyOptional: true,
      response: { 200: RotatedSecretSchema },
      problems: ['not-found', 'hub-unavailable'],
    },
    async (request) => scim.rotateInboundSecret(request.caller.tenant, request.caller),
  )

  addRoute(
    app,
    'testScim',
    {
      description:
        'Tests the stored configuration and changes nothing. With `pull` it queries the directory; with `push` it ' +
        'reports whether the directory has called, and the values to enter there.',
      body: emptyBody,
      bodyOptional: true,
      response: { 200: ConnectionTestResult },
      problems: ['not-found'],
    },
    async (request) => trial.run(request.caller.tenant),
  )
}
