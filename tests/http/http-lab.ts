import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { DomainError } from '../../contract/domain-error.ts'
import { type Scope, scopeNames } from '../../contract/scopes.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { createHttpServer, type HttpServerOptions } from '../../server/http/http-server.ts'
import { MemoryRateLimiter } from '../../server/http/rate-limits/rate-limiter.ts'
import { createLogger } from '../../server/http/request-log.ts'
import { addRoute } from '../../server/http/route.ts'

/** The HTTP layer alone, with handlers that do nothing: real routes of the operations table, on a real port. */
export interface HttpLab {
  app: FastifyInstance
  url: string
  port: number
  log: string[]
  /** How often the database of tenants was asked. */
  lookedUp: string[]
  call(method: string, path: string, options?: CallOptions): Promise<LabAnswer>
  close(): Promise<void>
}

interface CallOptions {
  /** `undefined` takes a default header away. */
  headers?: Record<string, string | undefined>
  body?: string | Buffer | object
}

export interface LabAnswer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape they assert
  body: any
}

export const tenants: Record<string, Tenant> = {
  acme: { slug: 'acme', mode: 'A', baseUrl: 'https://acme.example', hasOwnAddress: false, logName: 'log/acme' },
  globex: { slug: 'globex', mode: 'A', baseUrl: 'https://globex.example', hasOwnAddress: false, logName: 'log/globex' },
}

/** A token is its tenant and its scopes: `acme.all`, `acme.hub-read.hub-write`; anything else is refused. */
function claimsOf(token: string) {
  const [tenantSlug = '', ...names] = token.split('.')
  if (tenants[tenantSlug] === undefined) throw new DomainError('authentication-failed', 'The token is not one of ours.')
  const scopes = names.includes('all') ? scopeNames : names.map((name) => name.replace('-', ':') as Scope)
  return {
    subject: 'svc_1',
    clientId: 'svc_1',
    tenantSlug,
    tokenId: token,
    scopes: new Set(scopes),
    expiresAt: 9e9,
    epoch: 1,
  }
}

const Echo = Type.Object({}, { additionalProperties: true })

/** Handlers that answer what they got. `purgeRecord` fails in a way nobody foresaw; `verifyRecord` answers nonsense. */
function addEchoRoutes(app: FastifyInstance): void {
  const RecordId = Type.Object({ record_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false })
  addRoute(app, 'getHealth', { response: { 200: Echo } }, async () => ({}))
  addRoute(
    app,
    'queryRecords',
    {
      querystring: Type.Object(
        {
          limit: Type.Integer({ minimum: 1, maximum: 1000, default: 50 }),
          verify: Type.Optional(Type.Boolean()),
          skill_id: Type.Optional(Type.String({ pattern: '^[a-z]+$', 'x-must-be': 'lower-case letters' })),
        },
        { additionalProperties: false },
      ),
      headers: Type.Object({ 'if-match': Type.Optional(Type.String({ maxLength: 10 })) }),
      response: { 200: Echo },
    },
    async (request) => ({ query: request.query, caller: { ...request.caller, scopes: [...request.caller.scopes] } }),
  )
  addRoute(
    app,
    'writeRecord',
    {
      body: Type.Object(
        {
          title: Type.String({ minLength: 1, maxLength: 20 }),
          kind: Type.Union([Type.Literal('a'), Type.Literal('b')]),
          size: Type.Optional(Type.Integer({ minimum: 0 })),
          note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
          tags: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
          content: Type.Optional(Type.Unknown()),
        },
        { additionalProperties: false },
      ),
      checkBody: ({ title, tags = [] }: { title?: string; tags?: readonly (string | undefined)[] }) => [
        ...(title === 'taboo' ? [{ pointer: '/title', detail: 'is taboo' }] : []),
        ...tags.flatMap((tag, at) => (tag === 'taboo' ? [{ pointer: `/tags/${at}`, detail: 'is taboo' }] : [])),
      ],
      response: { 201: Echo },
    },
    async (request, reply) => {
      reply.code(201)
      return { body: request.body }
    },
  )
  addRoute(app, 'getRecord', { params: RecordId, response: { 200: Echo } }, async (request) => request.params)
  addRoute(app, 'restoreRecord', { params: RecordId, response: { 200: Echo } }, async (request) => ({
    ...request.params,
    body: request.body ?? null,
  }))
  addRoute(app, 'purgeRecord', { params: RecordId, response: { 200: Echo } }, async () => {
    throw Object.assign(new Error('secret-in-message'), { detail: 'secret-in-detail' })
  })
  const Verdict = Type.Object({ verified: Type.Boolean() })
  addRoute(app, 'verifyRecord', { params: RecordId, response: { 200: Verdict } }, async () => {
    return { verified: 'perhaps' } as unknown as { verified: boolean }
  })
  addRoute(
    app,
    'transitionSkill',
    {
      params: Type.Object({ skill_id: Type.String({ pattern: '^[A-Za-z0-9_.:-]{1,128}$' }) }),
      body: Type.Object({ state: Type.Optional(Type.String()) }, { additionalProperties: false }),
      bodyOptional: true,
      response: { 200: Echo },
    },
    async (request) => ({ ...request.params, ...request.body }),
  )
  addRoute(
    app,
    'ingestBatch',
    {
      body: Type.Object({ events: Type.Array(Type.Unknown()) }, { additionalProperties: false }),
      response: { 201: Echo },
    },
    async (request, reply) => {
      reply.code(201)
      return { events: request.body.events.length }
    },
  )
  addRoute(
    app,
    'issueServiceToken',
    {
      body: Type.Object({ client_id: Type.String() }),
      bodyFormat: 'form',
      oauthErrors: true,
      response: { 200: Echo },
    },
    async (request) => {
      const { client_id: clientId, client_secret: secret } = request.body ?? {}
      if (secret !== 'right') {
        await request.credentialCharges.failed(String(clientId))
        throw new DomainError('authentication-failed', 'The "client" is unknown.')
      }
      await request.credentialCharges.succeed(String(clientId), 'acme')
      return { ...request.body }
    },
  )
}

/** @param prepare called before the routes are added */
export async function startHttpLab(
  options: Partial<Omit<HttpServerOptions, 'config'>> & { config?: Partial<HttpServerOptions['config']> } = {},
  prepare?: (app: FastifyInstance) => void,
): Promise<HttpLab> {
  const log: string[] = []
  const lookedUp: string[] = []
  const app = createHttpServer({
    baseUrl: () => 'https://hub.example',
    logger: createLogger({ logLevel: 'info', environment: 'production' }, { write: (line) => void log.push(line) }),
    access: {
      authenticate: async (token) => claimsOf(token),
      findTenant: async (slug) => {
        lookedUp.push(slug)
        return tenants[slug]
      },
      tenantAt: async (host) => tenants[host.split('.localhost')[0] ?? ''],
    },
    limiter: new MemoryRateLimiter(),
    limitsOf: async () => ({}),
    ...options,
    config: { environment: 'development', trustedProxies: [], limitFactor: 1, ...options.config },
  })
  prepare?.(app)
  addEchoRoutes(app)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  return { app, url, port, log, lookedUp, call: callerOf(url), close: () => app.close() }
}

function callerOf(url: string) {
  return async (method: string, path: string, { headers = {}, body }: CallOptions = {}): Promise<LabAnswer> => {
    const isJson = body !== undefined
    const sent: Record<string, string | undefined> = {
      authorization: 'Bearer acme.all',
      'x-service-tenant': 'acme',
      ...(isJson && { 'content-type': 'application/json' }),
      ...headers,
    }
    const response = await fetch(url + path, {
      method,
      headers: Object.fromEntries(
        Object.entries(sent).filter((each): each is [string, string] => each[1] !== undefined),
      ),
      redirect: 'manual',
      ...(body !== undefined && {
        body: typeof body === 'string' ? body : Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
      }),
    })
    const text = await response.text()
    const answersJson = response.headers.get('content-type')?.includes('json') ?? false
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: answersJson ? JSON.parse(text) : undefined,
    }
  }
}
