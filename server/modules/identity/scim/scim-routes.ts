import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ConnectionTestResult } from '../../../../contract/response-schemas.ts'
import { addRoute, emptyBody } from '../../../http/route.ts'
import type { ValidParts } from '../../../http/valid-parts.ts'
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
        'Says how the company’s directory reaches the Hub. With `push` the directory sends changes to ' +
        '`scim_base_url` with the bearer token, which is answered only where it is new: at first, and after a change ' +
        'from `pull`. With `pull` the Hub reads the directory at `base_url`, at `roster/scim:sync` and every half hour. ' +
        'A changed map assigns archetypes anew; one that it names and the tenant does not have yet counts from when ' +
        '`PUT /api/v1/roster/archetypes` adds it. The call that configures it first answers, in `inbound`, a secret for ' +
        'messages that the identity provider sends.',
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
      description: 'What is kept, without any token.',
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
        'The directory no longer reaches the Hub, nor the Hub it; a sync that runs is cancelled. People, groups and ' +
        'archetypes stay as they are. The same answer when nothing is configured.',
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
      description: 'Of push. The token before this stays good for 24 hours, any older one ends at once.',
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
        'Of the messages that the identity provider sends, with `push` and with `pull`. The secret before this stays good ' +
        'for 24 hours, any older one ends at once. A configuration that has none yet gets its first.',
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
        'Tries the configuration that is kept, and changes nothing. With `pull` it asks the directory; with `push` it ' +
        'says whether the directory has called, and what to enter there.',
      body: emptyBody,
      bodyOptional: true,
      response: { 200: ConnectionTestResult },
      problems: ['not-found'],
    },
    async (request) => trial.run(request.caller.tenant),
  )
}
