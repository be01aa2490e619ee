import type { FastifyInstance, FastifyReply, FastifyRequest, InjectOptions } from 'fastify'
import { Type } from 'typebox'
import { type OperationId, operations } from '../../../contract/operations.ts'
import { scopeNames } from '../../../contract/scopes.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/json.ts'
import { FairQueue } from '../../db/fair-queue.ts'
import { addRoute, rawJson } from '../../http/route.ts'
import { openToEveryOrigin } from '../../http/security-headers.ts'
import { McpMessage, McpResponse, ProtectedResource } from './agents-schemas.ts'
import { type HubCall, HubCallError, type HubCallParts } from './hub-calls.ts'
import { exchange } from './mcp-exchange.ts'

/** Maximum number of concurrent calls by tools in this process, whose responses are held whole. */
const callsAtOnce = { all: 32, ofTenant: 8 } as const
const waitMs = 30_000

type CallQueue = FairQueue<'call'>

export function addAgentRoutes(
  app: FastifyInstance,
  { version, commonUrl }: { version: string; commonUrl: () => string },
): void {
  const { all, ofTenant } = callsAtOnce
  const queue: CallQueue = new FairQueue({
    slots: all,
    ofTenant,
    classes: { call: { all, ofTenant, waitMs, rejection: tooManyCalls } },
  })
  addRoute(
    app,
    'callMcp',
    {
      description:
        'One JSON-RPC message of the Model Context Protocol, answered as JSON. The server keeps no state between ' +
        'messages. The token names the tenant, so `X-Service-Tenant` may be absent. Each tool calls an operation of ' +
        'this API with the same token.',
      body: McpMessage,
      response: {
        200: McpResponse,
        202: Type.Null({ description: 'The notification was accepted' }),
      },
      problems: ['not-found'],
    },
    async (request, reply) => {
      const { tenant, scopes } = request.caller
      const { status, text, sessionId } = await exchange(
        { url: `${tenant.baseUrl}/mcp`, headers: request.headers, message: request.body as JsonValue },
        {
          version,
          scopes,
          call: hubCall(app, queue, request, tenant.slug),
          logError: (error) => request.log.error({ err: error }, 'a message of an agent failed'),
        },
      )
      reply.code(status)
      // An error of the protocol is no problem document, and is logged as one.
      if (status >= 400) request.problemSlug = status === 404 ? 'not-found' : 'validation-failed'
      if (sessionId !== undefined) reply.header('mcp-session-id', sessionId)
      return text === undefined ? reply.send() : rawJson(reply, text)
    },
  )

  const resource = async (request: FastifyRequest, reply: FastifyReply) => {
    const issuer = request.hostTenant?.baseUrl ?? commonUrl()
    openToEveryOrigin(reply, 60)
    return {
      resource: `${issuer}/mcp`,
      authorization_servers: [issuer],
      scopes_supported: [...scopeNames],
      bearer_methods_supported: ['header' as const],
      resource_name: 'Org-Memory Hub',
    }
  }
  const description = 'Returns where clients of `/mcp` get tokens.'
  addRoute(app, 'getProtectedResource', { description, response: { 200: ProtectedResource } }, resource)
  addRoute(app, 'getMcpResource', { description, response: { 200: ProtectedResource } }, resource)
}

/** Returns calls of this API in the same process, in the name of the caller of a request. */
function hubCall(app: FastifyInstance, queue: CallQueue, request: FastifyRequest, tenantSlug: string): HubCall {
  return async (operation, parts = {}) => {
    const { body, idempotencyKey } = parts
    const options: InjectOptions = {
      method: operations[operation].method as NonNullable<InjectOptions['method']>,
      url: urlOf(operation, parts),
      remoteAddress: request.callerAddress,
      headers: {
        host: request.host,
        accept: 'application/json',
        authorization: request.headers.authorization,
        'x-service-tenant': tenantSlug,
        'x-service-request-id': request.id,
        ...(body && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body && { payload: JSON.stringify(body) }),
    }
    const response = await inTurn(queue, tenantSlug, () => app.inject(options))
    const answer = objectIn(response.payload)
    if (response.statusCode < 400) return answer
    const retryAfter = response.headers['retry-after']
    throw new HubCallError(response.statusCode, answer, retryAfter === undefined ? undefined : String(retryAfter))
  }
}

async function inTurn<Result>(queue: CallQueue, tenantSlug: string, work: () => Promise<Result>): Promise<Result> {
  await queue.enter(tenantSlug, 'call')
  try {
    return await work()
  } finally {
    queue.leave(tenantSlug, 'call')
  }
}

function tooManyCalls(): HubCallError {
  const detail = 'The agents of this tenant make too many calls at a time. Make one after the other.'
  return new HubCallError(503, { title: 'Service Unavailable', detail }, '5')
}

function urlOf(operation: OperationId, { path = {}, query = {} }: HubCallParts): string {
  const url = operations[operation].path.replaceAll(/\{([a-z_]+)\}/g, (_, name) => encodeURIComponent(path[name] ?? ''))
  const present = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return present.length === 0 ? url : `${url}?${new URLSearchParams(present)}`
}

function objectIn(text: string): JsonObject {
  const value = text === '' ? {} : (JSON.parse(text) as JsonValue)
  return isJsonObject(value) ? value : {}
}
