import type { FastifyInstance } from 'fastify'
import { addAgentRoutes } from './agents-routes.ts'

/** Creates the endpoint of agents, the Model Context Protocol. Its tools call operations of the API. */
export function createAgentsModule(deps: { version: string; commonUrl: () => string }) {
  return { routes: (app: FastifyInstance) => addAgentRoutes(app, deps) }
}
