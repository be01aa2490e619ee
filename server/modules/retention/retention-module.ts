import type { FastifyInstance } from 'fastify'
import { createRetentionPurge } from './retention-purge.ts'
import { addRetentionRoutes } from './retention-routes.ts'
import { createRetention } from './retention-service.ts'

/** Creates the endpoints of retention rules, and the purge of records that are older than they allow. */
export function createRetentionModule(
  deps: Parameters<typeof createRetention>[0] & Parameters<typeof createRetentionPurge>[0],
) {
  return {
    routes: (app: FastifyInstance) => addRetentionRoutes(app, createRetention(deps)),
    overdue: createRetentionPurge(deps),
  }
}
