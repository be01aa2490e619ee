import type { Database, DatabaseLog } from '../../../db/database.ts'
import type { EventBus } from '../../../event-bus.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { FigureAudit } from '../../integrity-sweep/sweep-types.ts'
import { createAdjustmentAcceptance } from '../adjustments/adjustment-acceptance.ts'
import { createAdjustmentAudits } from '../adjustments/adjustment-audit.ts'
import { RollupAudit } from './rollup-audit.ts'
import { eraseFromRollups } from './rollup-erasure.ts'
import { RollupScheduler } from './rollup-scheduler.ts'
import { Rollups } from './rollup-service.ts'
import { oldestDelta } from './rollup-store.ts'

export function createRollupModule(deps: {
  database: Database
  /** Returns every tenant, read again at each call. */
  listTenants: () => Promise<readonly string[]>
  governance: GovernanceLog
  events: EventBus
  log: DatabaseLog
}) {
  const rollups = new Rollups(deps)
  const adjustmentAudits = createAdjustmentAudits(deps)
  const folder = new RollupScheduler({ ...deps, rollups })
  deps.events.on('telemetryStored', ({ tenantId }) => folder.ingested(tenantId))
  deps.events.onInTransaction('recordsErased', (tx, { records }) => eraseFromRollups(tx, records))
  return {
    rollups,
    folder,
    oldestDelta,
    acceptAdjustments: createAdjustmentAcceptance(deps),
    /** Starts an audit of a tenant's rollups against its records, and then of additions against their proof. */
    audit(tenant: Tenant, range: 'newest' | 'all'): FigureAudit {
      const audits: FigureAudit[] = [new RollupAudit(deps.database, tenant, range), adjustmentAudits(tenant)]
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
