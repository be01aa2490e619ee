import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import type { EventBus } from '../../events.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import { forgetViews } from './views-erasure.ts'
import { addViewRoutes } from './views-routes.ts'
import { createSavedViews } from './views-service.ts'

/** Creates the module of saved views: named states of pages of the web UI. */
export function createViewsModule(deps: { database: Database; masterKey: Buffer; events: EventBus }) {
  const cursorKey = deriveKey(deps.masterKey, cursorKeyPurpose)
  const views = createSavedViews({ ...deps, cursorKey })
  deps.events.onInTransaction('recordsErased', (tx, { records }) => forgetViews(tx, records))
  return { routes: (app: FastifyInstance) => addViewRoutes(app, views) }
}
