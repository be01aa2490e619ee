import type { FastifyInstance } from 'fastify'
import { createEventReleases } from './event-releases.ts'
import { createHoldReplay } from './hold-replay.ts'
import { addHoldRoutes } from './holds-routes.ts'
import { createHolds } from './holds-service.ts'
import { addRecordStateRoutes } from './record-state-routes.ts'
import { createRecordStates } from './record-state-service.ts'
import { addReleaseRoutes } from './releases-routes.ts'

/** Creates the endpoints of holds, releases and record states, and the replay of holds after a restore. */
export function createLegalHoldsModule(
  deps: Parameters<typeof createHolds>[0] & Parameters<typeof createEventReleases>[0],
) {
  return {
    routes(app: FastifyInstance) {
      addReleaseRoutes(app, createEventReleases(deps))
      addHoldRoutes(app, createHolds(deps))
      addRecordStateRoutes(app, createRecordStates(deps))
    },
    replay: createHoldReplay(deps),
  }
}
