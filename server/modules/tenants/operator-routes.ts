import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { PageQuery } from '../../../contract/request-schemas.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import { operatorOf } from '../../http/own-credentials.ts'
import { addRoute, emptyBody } from '../../http/route.ts'
import type { OperatedTenants } from './operated-tenants-service.ts'
import type { TenantAdministration } from './tenant-administration-service.ts'
import { toCreatedResponse } from './tenant-response.ts'
import {
  CreatedTenantResponse,
  NewTenantBody,
  OperatedTenantResponse,
  SlugParams,
  TenantChangesBody,
  TenantList,
} from './tenant-schemas.ts'

const operatorOnly = { credentials: ['operator'] } as const
const byToken = 'Requires HUB_OPERATOR_TOKEN as a bearer token, and no tenant header.'

export function addOperatorRoutes(
  app: FastifyInstance,
  administration: TenantAdministration,
  operated: OperatedTenants,
): void {
  addRoute(
    app,
    'createTenant',
    {
      ...operatorOnly,
      description: `Creates the tenant with its keys and log, and the welcome link of its administrator. ${byToken}`,
      body: NewTenantBody,
      checkBody: (body: ValidParts<Static<typeof NewTenantBody>>) => {
        const { slug, mode, admin_email: adminEmail, base_url: baseUrl } = body
        return administration.problemsIn({ slug, mode, adminEmail, baseUrl })
      },
      response: { 201: CreatedTenantResponse },
      responseHeaders: { 201: { Location: Type.String({ description: 'Path of the tenant' }) } },
      problems: ['concurrent-modification'],
    },
    async (request, reply) => {
      const { slug, mode, admin_email: adminEmail, base_url: baseUrl, display_name: displayName } = request.body
      const created = await administration.create({ slug, mode, adminEmail, baseUrl, displayName }, operatorOf(request))
      reply.code(201).header('location', `/api/v1/operator/tenants/${slug}`).header('cache-control', 'no-store')
      return toCreatedResponse(created)
    },
  )

  addRoute(
    app,
    'listTenants',
    {
      ...operatorOnly,
      description: `Sorted by slug, including suspended tenants. ${byToken}`,
      querystring: PageQuery,
      response: { 200: TenantList },
    },
    async (request) => operated.list(request.query),
  )

  addRoute(
    app,
    'getTenantAsOperator',
    { ...operatorOnly, description: byToken, params: SlugParams, response: { 200: OperatedTenantResponse } },
    async (request) => operated.get(request.params.slug),
  )

  addRoute(
    app,
    'updateTenant',
    {
      ...operatorOnly,
      description:
        'Changes the members that are sent, within 5 seconds everywhere. `suspended`: all access to the tenant is ' +
        'blocked, nothing is lost, and its proofs continue. Another `base_url` ends the access tokens and ' +
        'sessions of the former one. Another `admin_email` ends the unused welcome links; create a new one. ' +
        byToken,
      params: SlugParams,
      body: TenantChangesBody,
      response: { 200: OperatedTenantResponse },
      problems: ['concurrent-modification'],
    },
    async (request) => operated.update(request.params.slug, request.body, operatorOf(request)),
  )

  addRoute(
    app,
    'createWelcomeLink',
    {
      ...operatorOnly,
      description: `Earlier unused links stay valid until they expire. ${byToken}`,
      params: SlugParams,
      body: emptyBody,
      bodyOptional: true,
      response: { 200: CreatedTenantResponse },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      return toCreatedResponse(await administration.welcomeLink(request.params.slug, operatorOf(request)))
    },
  )
}
