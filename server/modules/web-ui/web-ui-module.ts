import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'
import type { Sessions } from '../auth/auth-types.ts'
import { addWebUiRoutes } from './web-ui-routes.ts'

export interface WebUiModule {
  routes(app: FastifyInstance): void
}

const builtFolder = fileURLToPath(new URL('../../../web/dist', import.meta.url))
const docsFolder = fileURLToPath(new URL('../../../docs/.vitepress/dist', import.meta.url))

/** Serves the web UI, which is built separately and uses only the API, and the documentation. */
export function createWebUiModule(deps: {
  config: Pick<Config, 'environment'>
  baseUrl: () => string
  browserUrl: () => string
  tabKey: Sessions['tabKey']
  /** The reason why the build failed. */
  problem?: string | undefined
  /** Absolute path; defaults to `web/dist`. */
  dist?: string | undefined
  /** Absolute path; defaults to `docs/.vitepress/dist`. */
  docs?: string | undefined
}): WebUiModule {
  const { config, baseUrl, browserUrl, tabKey, problem, dist = builtFolder, docs = docsFolder } = deps
  const apiUrl = () => (browserUrl() === baseUrl() ? undefined : baseUrl())
  // The message contains local paths, which production must not reveal.
  const reason = config.environment === 'development' ? problem : undefined
  const parts = { dist, docs, reason, apiUrl, tabKey, environment: config.environment }
  return { routes: (app) => addWebUiRoutes(app, parts) }
}
