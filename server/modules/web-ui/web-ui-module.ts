import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'
import type { Sessions } from '../auth/auth-types.ts'
import { addWebUiRoutes } from './web-ui-routes.ts'

export interface WebUiModule {
  routes(app: FastifyInstance): void
}

const builtFolder = fileURLToPath(new URL('../../../web/dist', import.meta.url))

/** Serves the web UI, which is built apart from the service and reaches it by the API only. */
export function createWebUiModule(deps: {
  config: Pick<Config, 'environment'>
  baseUrl: () => string
  browserUrl: () => string
  tabKey: Sessions['tabKey']
  /** Why the UI could not be built. */
  problem?: string | undefined
  /** Absolute; `web/dist` if absent. */
  dist?: string | undefined
}): WebUiModule {
  const { config, baseUrl, browserUrl, tabKey, problem, dist = builtFolder } = deps
  const apiUrl = () => (browserUrl() === baseUrl() ? undefined : baseUrl())
  // The message names paths of the machine, which are nobody's business in production.
  const reason = config.environment === 'development' ? problem : undefined
  return { routes: (app) => addWebUiRoutes(app, { dist, reason, apiUrl, tabKey, environment: config.environment }) }
}
