import { rosterPullPageSize } from '../../../../contract/limits.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Directory } from '../directory/directory-types.ts'
import type { ArchetypeSettling } from './sync-types.ts'

export interface ArchetypeSettlingRuns extends ArchetypeSettling {
  /** Goes through everybody whose id comes after one. */
  run(tenantId: string, after: string, signal: AbortSignal): Promise<void>
}

export function createArchetypeSettling(deps: {
  database: Database
  directory: Pick<Directory, 'assignArchetypes'>
  tenants: () => Pick<TenantDirectory, 'find'>
  /** Has the rest done, if the transaction commits. */
  goOn(tx: TenantTx, after: string): Promise<void>
}): ArchetypeSettlingRuns {
  const { directory } = deps
  return {
    async settle(tx, tenant, actor) {
      const { next } = await directory.assignArchetypes(tx, tenant, actor, { after: '', limit: rosterPullPageSize })
      if (next !== undefined) await deps.goOn(tx, next)
    },
    async run(tenantId, first, signal) {
      const tenant = await deps.tenants().find(tenantId)
      const from = async (after: string): Promise<string | undefined> => {
        const page = { after, limit: rosterPullPageSize }
        const settled = await deps.database.withTenant(tenantId, (tx) =>
          directory.assignArchetypes(tx, tenant!, { service: 'roster-sync' }, page),
        )
        return settled.next
      }
      for (let after: string | undefined = first; tenant && after !== undefined; after = await from(after)) {
        signal.throwIfAborted()
      }
    },
  }
}
