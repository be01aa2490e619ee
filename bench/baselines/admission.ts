// Runs the service's own server with each operation twice: unchanged, and under /open without authentication,
// revocation check, tenant header, scopes, rate limit and its headers. Handlers, request validation and all else are
// equal. One operation has an empty handler.
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Type } from 'typebox'
import { isScope } from '../../contract/scopes.ts'
import { loadConfig } from '../../server/config.ts'
import { createModules } from '../../server/create-modules.ts'
import { openDatabase } from '../../server/db/open-database.ts'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { createHttpServer } from '../../server/http/http-server.ts'
import { MemoryRateLimiter } from '../../server/http/rate-limits/rate-limiter.ts'
import { addRoute } from '../../server/http/route.ts'
import { addressOf, announce } from './announce.ts'

const { dataDir, tenantSlug, scope } = JSON.parse(await text(process.stdin)) as {
  dataDir: string
  tenantSlug: string
  scope: string
}
const config = loadConfig({ HUB_DATA_DIR: dataDir, HUB_PORT: '0', HUB_LIMIT_FACTOR: '10000000' })
const logger = pino({ level: 'warn' }, process.stderr)
const database = await openDatabase(config, { purpose: 'command', log: logger })
const address = { url: 'http://127.0.0.1' }
const baseUrl = () => address.url
const { masterKey } = database
const modules = await createModules({ config, database, masterKey, baseUrl, log: logger })
const { directory } = modules.tenants
const app = createHttpServer({
  config,
  baseUrl,
  browserUrl: baseUrl,
  logger,
  limiter: new MemoryRateLimiter(),
  access: modules.auth.access,
  limitsOf: (slug) => directory.limitsOf(slug),
})

const someone: Omit<Caller, 'requestId' | 'tenant'> & { tenant?: Tenant } = {
  subject: 'bench',
  clientId: 'bench',
  tokenId: 'bench',
  scopes: new Set(scope.split(' ').filter(isScope)),
  address: '127.0.0.1',
}
openTwins(app)
modules.auth.routes(app)
modules.hub.routes(app)
addRoute(app, 'getPrices', { response: { 200: Type.Unknown() } }, async () => ({ ok: true }))
await announce(app, async () => {
  address.url = addressOf(app.server)
  const tenant = await directory.find(tenantSlug)
  if (tenant === undefined) throw new Error(`there is no tenant ${tenantSlug}`)
  someone.tenant = tenant
})

/** Adds, to each later operation that requires a token, a twin that does not. */
function openTwins(server: FastifyInstance): void {
  server.addHook('onRoute', ({ url, method, bodyLimit, config: routeConfig, handler }) => {
    const route = routeConfig?.route
    if (route?.operation.access.kind !== 'token' || method === 'HEAD') return
    const operation = { ...route.operation, access: { kind: 'public' as const } }
    server.route({
      method,
      url: `/open${url}`,
      ...(bodyLimit !== undefined && { bodyLimit }),
      config: { route: { ...route, operation } },
      handler(request, reply) {
        request.admittedCaller = { ...(someone as Caller), requestId: request.id }
        return handler.call(this, request, reply)
      },
    })
  })
}
