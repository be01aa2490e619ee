import type { Database, DatabaseLog } from '../../../db/database.ts'
import type { EventBus } from '../../../events.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { FigureAudit } from '../../integrity-sweep/sweep-types.ts'
import type { Records } from '../../records/records-types.ts'
import { type AcceptAdjustments, createAdjustmentAcceptance } from '../adjustments/adjustment-acceptance.ts'
import { createAdjustmentAudits } from '../adjustments/adjustment-audit.ts'
import { createRollupAudits } from './rollup-audit.ts'
import { forgetInRollups } from './rollup-erasure.ts'
import { createRollupScheduler, type RollupScheduler } from './rollup-scheduler.ts'
import { createRollups, type Rollups } from './rollup-service.ts'

export interface RollupModule {
  rollups: Rollups
  folder: RollupScheduler
  acceptAdjustments: AcceptAdjustments
  /** Starts an audit of a tenant's rollups against its records, and then of additions against their proof. */
  audit(tenant: Tenant, range: 'newest' | 'all'): FigureAudit
}

export function createRollupModule(deps: {
  database: Database
  records: Pick<Records, 'firstIdAt'>
  /** Returns every tenant, read again at each call. */
  listTenants: () => Promise<readonly string[]>
  governance: GovernanceLog
  events: EventBus
  log: DatabaseLog
}): RollupModule {
  const rollups = createRollups(deps)
  const figureAudits = createRollupAudits(deps)
  const adjustmentAudits = createAdjustmentAudits(deps)
  const folder = createRollupScheduler({ ...deps, rollups })
  deps.events.on('telemetryStored', ({ tenantId }) => folder.ingested(tenantId))
  deps.events.onInTransaction('recordsErased', (tx, { records }) => forgetInRollups(tx, records))
  return {
    rollups,
    folder,
    acceptAdjustments: createAdjustmentAcceptance(deps),
    audit(tenant, range) {
      const audits = [figureAudits(tenant, range), adjustmentAudits(tenant)]
      return {
        async step() {
          const stepped = await audits[0]!.step()
          if (stepped.isOver) audits.shift()
          return { ...stepped, isOver: audits.length === 0 }
        },
      }
    },
  }
}
