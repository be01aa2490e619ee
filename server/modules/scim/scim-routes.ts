import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../contract/domain-error.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import { bearerToken } from '../../http/auth-middleware.ts'
import { isServedAt, type Tenant } from '../../http/caller.ts'
import { addProtocol, sendProtocolText } from '../../http/protocol.ts'
import type { Query } from '../../http/query-string.ts'
import type { ScimConnections } from '../roster/sync/sync-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { dialectOf, resourceTypes, schemas, serviceProviderConfig } from './discovery.ts'
import { isKnown } from './entity-tags.ts'
import { readListQuery, textOf } from './list-query.ts'
import { type Projection, projectionOf } from './projection.ts'
import { renderList, scimBaseUrl } from './rendering.ts'
import { memberNamed, objectOf } from './resource-body.ts'
import type { ResourceDefinition } from './schema-types.ts'
import { renderError } from './scim-problems.ts'
import type { ScimContext, ScimResource, ScimResources } from './scim-types.ts'

const mediaType = 'application/scim+json'

/** A kind of resource and its handlers. */
export interface ServedResources {
  definition: ResourceDefinition
  resources: ScimResources
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The SCIM configuration that authenticated the request. */
    scimConnectionId: string | null
  }
}

/** Adds the SCIM server of every tenant at `/scim/v2/{tenant}` (RFC 7644). */
export function addScimProtocol(app: FastifyInstance, access: ScimAccess, served: readonly ServedResources[]): void {
  app.decorateRequest('scimConnectionId', null)
  addProtocol(app, '/scim/v2/:tenant', {
    name: 'scim',
    rateClass: 'hub-write',
    mediaType,
    body: 'scim',

    async admit(request) {
      const { tenant: slug = '' } = request.params as { tenant?: string }
      const opened = await openScim(access, slug, shownToken(request), request.hostTenant)
      if (!opened) {
        await request.credentialCharges.failed(`scim ${slug}`)
        throw notAdmitted()
      }
      request.hubTenant = opened.tenant
      request.scimConnectionId = opened.connectionId
      await request.credentialCharges.succeed(`scim ${opened.connectionId}`, opened.tenant.slug)
    },

    renderError: (error, request) => renderError(error, dialectOf(request.headers.accept)),

    async handle(request, reply) {
      const { '*': path = '' } = request.params as { '*'?: string }
      const [endpoint = '', id, ...rest] = path.replace(/\/$/, '').split('/')
      if (rest.length > 0) throw nothingHere()
      const kind = served.find(({ definition }) => definition.endpoint === `/${endpoint}`)
      if (kind) return answerResources(kind, id, request, reply)
      return answerDiscovery(endpoint, id, request, reply)
    },
  })
}

function shownToken(request: FastifyRequest): string | undefined {
  try {
    return bearerToken(request)
  } catch {
    return undefined
  }
}

async function answerResources(
  { definition, resources }: ServedResources,
  id: string | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const context = contextOf(request)
  if (id === undefined || id === '.search') {
    const isSearch = id === '.search'
    requireMethod(request, reply, isSearch ? ['POST'] : ['GET', 'POST'])
    const parameters = isSearch ? searchOf(request.body) : (request.query as Query)
    const projection = projectionIn(definition, parameters)
    if (request.method === 'POST' && !isSearch) {
      return sendResource(reply.status(201), await resources.create(context, request.body, projection))
    }
    const query = readListQuery(definition, parameters)
    const { total, items } = await resources.list(context, query, projection)
    return send(reply, renderList(total, query.startIndex, items))
  }
  requireMethod(request, reply, ['GET', 'PUT', 'PATCH', 'DELETE'])
  const projection = projectionIn(definition, request.query as Query)
  switch (request.method) {
    case 'PUT':
      return sendResource(reply, await resources.replace(context, id, request.body, projection))
    case 'PATCH':
      return sendResource(reply, await resources.patch(context, id, request.body, projection))
    case 'DELETE':
      await resources.remove(context, id)
      return reply.status(204).send()
    default: {
      const resource = await resources.get(context, id, projection)
      if (!isKnown(request.headers['if-none-match'], resource.etag)) return sendResource(reply, resource)
      return reply.status(304).header('etag', resource.etag).send()
    }
  }
}

async function answerDiscovery(
  endpoint: string,
  id: string | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const base = scimBaseUrl(contextOf(request).tenant)
  if (endpoint === 'ServiceProviderConfig' && id === undefined) {
    requireMethod(request, reply, ['GET'])
    return send(reply, serviceProviderConfig(base))
  }
  const found = discovered(endpoint, base, request)
  if (!found) throw nothingHere()
  requireMethod(request, reply, ['GET'])
  // These lists are short and complete, and have no search (RFC 7644, section 4).
  if ((request.query as Query).filter !== undefined) {
    throw new DomainError('insufficient-scope', `${endpoint} does not support filters.`)
  }
  if (id === undefined) return send(reply, renderList(found.length, 1, found))
  const one = found.find((each) => String(each.id).toLowerCase() === id.toLowerCase())
  if (!one) throw nothingHere()
  return send(reply, one)
}

function discovered(endpoint: string, base: string, request: FastifyRequest): JsonObject[] | undefined {
  if (endpoint === 'Schemas') return schemas(base)
  if (endpoint === 'ResourceTypes') return resourceTypes(base, dialectOf(request.headers.accept))
  return undefined
}

function contextOf(request: FastifyRequest): ScimContext {
  const { hubTenant: tenant, scimConnectionId: id } = request
  if (!tenant || id === null) throw new Error('A SCIM request was answered before it was authenticated.')
  const actor = { subject: `scim:${id}`, clientId: id, address: request.callerAddress, requestId: request.id }
  return { tenant, actor, ifMatch: request.headers['if-match'] }
}

/** Returns the parameters of a search, sent as members of the body (RFC 7644, section 3.4.3). */
function searchOf(body: unknown): Record<string, unknown> {
  const members = objectOf(body)
  const names = ['filter', 'sortBy', 'sortOrder', 'startIndex', 'count', 'attributes', 'excludedAttributes']
  return Object.fromEntries(names.map((name) => [name, listed(memberNamed(members, name))]))
}

function listed(value: unknown): unknown {
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(',') : value
}

function projectionIn(definition: ResourceDefinition, parameters: Record<string, unknown>): Projection {
  const { attributes, excludedAttributes } = parameters
  return projectionOf(definition, textOf('attributes', attributes), textOf('excludedAttributes', excludedAttributes))
}

function requireMethod(request: FastifyRequest, reply: FastifyReply, methods: readonly string[]): void {
  const method = request.method === 'HEAD' ? 'GET' : request.method
  if (methods.includes(method)) return
  reply.header('allow', methods.join(', '))
  throw new DomainError('method-not-allowed', `This address accepts ${methods.join(', ')}, not ${request.method}.`)
}

function nothingHere(): DomainError {
  return new DomainError('not-found', 'No operation exists at this address.')
}

function sendResource(reply: FastifyReply, { body, location, etag }: ScimResource): FastifyReply {
  return send(reply.headers({ location, etag }), body)
}

function send(reply: FastifyReply, body: JsonObject): FastifyReply {
  return sendProtocolText(reply.type(mediaType), JSON.stringify(body))
}

const slugLengthMax = 63

interface ScimAccess {
  tenants: Pick<TenantDirectory, 'read'>
  connections: Pick<ScimConnections, 'admits' | 'noteRequest'>
}

/**
 * Authenticates a SCIM request. Returns undefined for a tenant that is unknown, not served at this host, without SCIM in
 * push mode, or with another token. Reads the tenant past the cache, so that the time does not reveal a tenant in use.
 */
async function openScim(
  { tenants, connections }: ScimAccess,
  slug: string,
  token: string | undefined,
  hostTenant: Tenant | null,
): Promise<{ tenant: Tenant; connectionId: string } | undefined> {
  if (token === undefined || slug.length > slugLengthMax) return undefined
  const tenant = await tenants.read(slug)
  if (!tenant || !isServedAt(hostTenant?.slug, tenant)) return undefined
  const configuration = await connections.admits(tenant, token)
  if (configuration?.mode !== 'push') return undefined
  connections.noteRequest(tenant)
  return { tenant, connectionId: configuration.connectionId }
}

/** Creates the only 401 of this protocol. */
function notAdmitted(): DomainError {
  return new DomainError(
    'authentication-failed',
    'The request has no token of this tenant’s SCIM configuration. Send it as Authorization: Bearer.',
  )
}
