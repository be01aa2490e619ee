import type { FastifyInstance } from 'fastify'
import { viewsLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import { usersWithoutRecords } from '../../db/users-without-records.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { ErasedRecord } from '../erasure/erasure-types.ts'
import { addViewRoutes } from './views-routes.ts'
import { createSavedViews } from './views-service.ts'
import { deleteViewsNaming } from './views-store.ts'

/** Deletes views whose query names users without remaining records, since they would show nothing. */
async function eraseFromViews(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void> {
  const users = [...new Set(records.flatMap(({ user_id }) => user_id ?? []))]
  if (users.length === 0) return
  const gone = await usersWithoutRecords(
    tx,
    users,
    records.map((record) => record.record_id),
  )
  if (gone.length === 0) return
  // Waits for views that are being saved.
  await lockTenant(tx, viewsLockClass)
  await deleteViewsNaming(tx, gone)
}

/** Creates the module of saved views: named states of pages of the web UI. */
export function createViewsModule(deps: Pick<ModuleParts, 'database' | 'cursorKey' | 'events'>) {
  const views = createSavedViews(deps)
  deps.events.onInTransaction('recordsErased', (tx, { records }) => eraseFromViews(tx, records))
  return { routes: (app: FastifyInstance) => addViewRoutes(app, views) }
}
