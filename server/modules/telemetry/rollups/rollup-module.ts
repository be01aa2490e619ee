import type { Database, DatabaseLog } from '../../../db/database.ts'
import type { ErasureParticipant } from '../../hub/erasure/erasure-types.ts'
import { createRollupErasure } from './rollup-erasure.ts'
import { createFolder, type Folder } from './rollup-folder.ts'
import { createRollups, type Rollups } from './rollup-service.ts'

export interface RollupModule {
  rollups: Rollups
  folder: Folder
  /** Keeps the sums of erased events, and forgets whose they were. */
  erasure: ErasureParticipant
}

export function createRollupModule(deps: {
  database: Database
  /** Every tenant, read afresh. */
  listTenants: () => Promise<readonly string[]>
  log: DatabaseLog
}): RollupModule {
  const rollups = createRollups(deps)
  return { rollups, folder: createFolder({ ...deps, rollups }), erasure: createRollupErasure() }
}
