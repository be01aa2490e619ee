import { rosterPullPageSize } from '../../../../contract/limits.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Directory } from '../directory/directory-types.ts'
import { beginTimeSlice } from './sync-attempt.ts'

export type ArchetypeReconciliation = ReturnType<typeof createArchetypeReconciliation>

/** Reconciles archetypes with groups after a change of the mapping or the bundle. */
export function createArchetypeReconciliation(deps: {
  database: Database
  directory: Pick<Directory, 'assignArchetypes'>
  tenants: Pick<TenantDirectory, 'find'>
  /** Schedules the rest if the transaction commits. */
  goOn(tx: TenantTx, after: string): Promise<void>
}) {
  const { directory } = deps
  return {
    /** Reconciles everybody in the background once the transaction commits. */
    later: (tx: TenantTx) => deps.goOn(tx, ''),
    /** Reconciles the first people inside the transaction, and the rest in the background once it commits. */
    async settle(tx: TenantTx, tenant: Tenant, actor: Actor): Promise<void> {
      const { next } = await directory.assignArchetypes(tx, tenant, actor, { after: '', limit: rosterPullPageSize })
      if (next !== undefined) await deps.goOn(tx, next)
    },
    /** Reconciles people with ids above `first` for one time slice, and schedules the next. */
    async run(tenantId: string, first: string, signal: AbortSignal): Promise<void> {
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
