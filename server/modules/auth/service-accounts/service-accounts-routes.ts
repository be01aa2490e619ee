import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { pageSizeDefault } from '../../../../contract/limits.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import { addRoute, emptyBody } from '../../../http/route.ts'
import {
  AccountChangesBody,
  AccountList,
  AccountParams,
  AccountResponse,
  CredentialsResponse,
  NewAccountBody,
  RotatedSecretResponse,
} from './service-accounts-schemas.ts'
import type { ServiceAccounts } from './service-accounts-types.ts'

export function addServiceAccountRoutes(app: FastifyInstance, accounts: ServiceAccounts): void {
  addRoute(
    app,
    'createServiceAccount',
    {
      description: 'Creates credentials for a program. The secret is returned only once.',
      body: NewAccountBody,
      response: { 201: CredentialsResponse },
      responseHeaders: { 201: { Location: Type.String({ description: 'Path of the account' }) } },
    },
    async (request, reply) => {
      const made = await accounts.create(request.caller.tenant, request.body, request.caller)
      reply.code(201).header('location', `/api/v1/service-accounts/${made.client_id}`)
      return made
    },
  )

  addRoute(
    app,
    'listServiceAccounts',
    {
      description: 'Oldest first, including disabled ones. Secrets are returned only when they are created.',
      querystring: PageQuery,
      response: { 200: AccountList },
    },
    async (request) => {
      const { limit = pageSizeDefault, cursor } = request.query
      return accounts.list(request.caller.tenant, { limit, cursor })
    },
  )

  addRoute(
    app,
    'getServiceAccount',
    {
      description: 'Returns the times of its active secrets, never their values.',
      params: AccountParams,
      response: { 200: AccountResponse },
      problems: ['not-found'],
    },
    async (request) => accounts.get(request.caller.tenant, request.params.client_id),
  )

  addRoute(
    app,
    'updateServiceAccount',
    {
      description:
        'Changes the members that are sent. Fewer scopes, an earlier expiry or other addresses end existing ' +
        'access tokens within 5 seconds.',
      params: AccountParams,
      body: AccountChangesBody,
      response: { 200: AccountResponse },
      problems: ['not-found', 'concurrent-modification'],
    },
    async (request) => {
      const { caller, params, body } = request
      return accounts.update(caller.tenant, params.client_id, body, caller)
    },
  )

  addRoute(
    app,
    'disableServiceAccount',
    {
      description:
        'Cannot be undone. Access tokens end within 5 seconds. Repeating the request returns the same response.',
      params: AccountParams,
      response: { 200: AccountResponse },
      problems: ['not-found'],
    },
    async (request) => accounts.disable(request.caller.tenant, request.params.client_id, request.caller),
  )

  addRoute(
    app,
    'rotateServiceAccountSecret',
    {
      description:
        'At most two secrets are valid: the previous one stays valid for 24 hours, and any older one ends at once.',
      params: AccountParams,
      body: emptyBody,
      bodyOptional: true,
      response: { 200: RotatedSecretResponse },
      problems: ['not-found', 'concurrent-modification'],
    },
    async (request) => accounts.rotate(request.caller.tenant, request.params.client_id, request.caller),
  )
}
