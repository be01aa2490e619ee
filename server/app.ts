import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { browserUrlOf, type Modules } from './create-modules.ts'
import { createHttpServer } from './http/http-server.ts'
import { MemoryRateLimiter, type RateLimiter } from './http/rate-limits/rate-limiter.ts'
import { countRequests } from './http/request-metrics.ts'
import { countDecisions } from './limits/counted-limiter.ts'
import type { Metrics } from './metrics/metrics.ts'
import { createAgentsModule } from './modules/agents/agents-module.ts'
import { createWebUiModule } from './modules/web-ui/web-ui-module.ts'

export interface AppOptions {
  config: Pick<
    Config,
    | 'environment'
    | 'version'
    | 'trustedProxies'
    | 'limitFactor'
    | 'bodySeconds'
    | 'browserUrl'
    | 'baseUrl'
    | 'operatorToken'
  >
  baseUrl: () => string
  logger: FastifyBaseLogger
  limiter?: RateLimiter
  /** Counts responses and decisions, if metrics are shown. */
  metrics?: Metrics | undefined
  /** Why the web UI could not be built, and the folders of UI and documentation if they are not the usual ones. */
  webUi?: { problem?: string | undefined; dist?: string; docs?: string } | undefined
  /** Compares every response with its schema. Tests set it. */
  checkResponses?: boolean
}

/** Builds the HTTP server with every route. It does not listen yet. */
export async function createApp(modules: Modules, options: AppOptions): Promise<FastifyInstance> {
  const { tenants, auth, observability } = modules
  const { metrics, limiter = new MemoryRateLimiter() } = options
  const browserUrl = browserUrlOf(options.config, options.baseUrl)
  const app = createHttpServer({
    ...options,
    operatorToken: options.config.operatorToken,
    bodyGraceMs: options.config.bodySeconds * 1000,
    limiter: metrics ? countDecisions(limiter, metrics) : limiter,
    access: auth.access,
    limitsOf: (slug) => tenants.directory.limitsOf(slug),
    ...(options.config.browserUrl !== options.config.baseUrl && { browserUrl }),
  })
  if (metrics) countRequests(app, metrics)
  const { connectors, distribution, webhooks } = modules
  const { keys, identity, scim, cmek, hub, log, exports, roster, entitlement, telemetry } = modules
  const parts = [
    [createWebUiModule({ ...options, ...options.webUi, browserUrl, tabKey: auth.sessions.tabKey }), modules.views],
    [modules.notifications],
    [keys, tenants, auth, identity, scim, cmek, hub, log, exports, roster, entitlement],
    [connectors, distribution, telemetry, modules.otlp, webhooks, modules.budgets, modules.inbound, observability],
    [createAgentsModule({ version: options.config.version, commonUrl: () => tenants.directory.commonUrl() })],
  ].flat()
  for (const { routes } of parts) routes(app)
  await app.ready()
  return app
}
