import { rosterPullPageSize } from '../../../../contract/limits.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Directory } from '../directory/directory-types.ts'
import { beginTimeSlice } from './sync-attempt.ts'
import type { ArchetypeSettling } from './sync-types.ts'

export interface ArchetypeReconciliationRuns extends ArchetypeSettling {
  /** Reconciles everybody in the background once the transaction commits. */
  later(tx: TenantTx): Promise<void>
  /** Reconciles people with ids above `after` for one time slice, and schedules the next. */
  run(tenantId: string, after: string, signal: AbortSignal): Promise<void>
}

export function createArchetypeReconciliation(deps: {
  database: Database
  directory: Pick<Directory, 'assignArchetypes'>
  tenants: Pick<TenantDirectory, 'find'>
  /** Schedules the rest if the transaction commits. */
  goOn(tx: TenantTx, after: string): Promise<void>
}): ArchetypeReconciliationRuns {
  const { directory } = deps
  return {
    later: (tx) => deps.goOn(tx, ''),
    async settle(tx, tenant, actor) {
      const { next } = await directory.assignArchetypes(tx, tenant, actor, { after: '', limit: rosterPullPageSize })
      if (next !== undefined) await deps.goOn(tx, next)
    },
    async run(tenantId, first, signal) {
      const tenant = await deps.tenants.find(tenantId)
      if (!tenant) return
      const turn = beginTimeSlice('quick')
      let after: string | undefined = first
      while (after !== undefined) {
        signal.throwIfAborted()
        const page = { after, limit: rosterPullPageSize }
        after = await deps.database.withTenant(tenantId, async (tx) => {
          const { next } = await directory.assignArchetypes(tx, tenant, { service: 'roster-sync' }, page)
          if (next === undefined || !turn.isOver()) return next
          await deps.goOn(tx, next)
          return undefined
        })
      }
    },
  }
}
