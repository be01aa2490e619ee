import type { Database, DatabaseLog } from '../../../db/database.ts'
import { createFolder, type Folder } from './rollup-folder.ts'
import { createRollups, type Rollups } from './rollup-service.ts'

export interface RollupModule {
  rollups: Rollups
  folder: Folder
}

export function createRollupModule(deps: {
  database: Database
  /** Every tenant, read afresh. */
  listTenants: () => Promise<readonly string[]>
  log: DatabaseLog
}): RollupModule {
  const rollups = createRollups(deps)
  return { rollups, folder: createFolder({ ...deps, rollups }) }
}
