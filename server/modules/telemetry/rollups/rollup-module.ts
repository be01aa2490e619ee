import type { Database, DatabaseLog } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ErasureParticipant } from '../../hub/erasure/erasure-types.ts'
import type { Records } from '../../hub/hub-types.ts'
import type { FigureAudit } from '../../hub/sweep/sweep-types.ts'
import { createRollupAudits } from './rollup-audit.ts'
import { createRollupErasure } from './rollup-erasure.ts'
import { createRollupScheduler, type RollupScheduler } from './rollup-scheduler.ts'
import { createRollups, type Rollups } from './rollup-service.ts'

export interface RollupModule {
  rollups: Rollups
  folder: RollupScheduler
  /** Keeps the sums of erased events, and forgets whose they were. */
  erasure: ErasureParticipant
  /** Begins to compare the rollups of a tenant with its records. */
  audit(tenant: Tenant, range: 'newest' | 'all'): FigureAudit
}

export function createRollupModule(deps: {
  database: Database
  records: Pick<Records, 'firstIdAt'>
  /** Every tenant, read afresh. */
  listTenants: () => Promise<readonly string[]>
  log: DatabaseLog
}): RollupModule {
  const rollups = createRollups(deps)
  return {
    rollups,
    folder: createRollupScheduler({ ...deps, rollups }),
    erasure: createRollupErasure(),
    audit: createRollupAudits(deps),
  }
}
