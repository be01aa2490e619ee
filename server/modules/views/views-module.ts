import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import type { ErasureParticipant } from '../erasure/erasure-types.ts'
import { viewsErasure } from './views-erasure.ts'
import { addViewRoutes } from './views-routes.ts'
import { createSavedViews } from './views-service.ts'

export interface ViewsModule {
  /** Deletes views that name erased users. */
  erasure: ErasureParticipant
  routes(app: FastifyInstance): void
}

/** Creates the module of saved views: named states of pages of the web UI. */
export function createViewsModule(deps: { database: Database; masterKey: Buffer }): ViewsModule {
  const cursorKey = deriveKey(deps.masterKey, cursorKeyPurpose)
  const views = createSavedViews({ ...deps, cursorKey })
  return { erasure: viewsErasure, routes: (app) => addViewRoutes(app, views) }
}
