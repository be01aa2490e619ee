import type { FastifyInstance } from 'fastify'
import { createEventReleases } from './event-releases.ts'
import { createHoldReplay } from './hold-replay.ts'
import { addLegalHoldRoutes } from './holds-routes.ts'
import { Holds } from './holds-service.ts'
import { createRecordStates } from './record-state-service.ts'

/** Creates the endpoints of holds, releases and record states, and the replay of holds after a restore. */
export function createLegalHoldsModule(
  deps: ConstructorParameters<typeof Holds>[0] & Parameters<typeof createEventReleases>[0],
) {
  const services = {
    holds: new Holds(deps),
    releases: createEventReleases(deps),
    states: createRecordStates(deps),
  }
  return { routes: (app: FastifyInstance) => addLegalHoldRoutes(app, services), replay: createHoldReplay(deps) }
}
