import type { Database, TenantTx } from '../db/database.ts'
import { ensureRecordPartitions } from '../db/record-partitions.ts'
import type { JobDefinition } from './queue.ts'

/** Daily work within one tenant, in a transaction of its own. */
export interface TenantChore {
  readonly name: string
  run(tx: TenantTx): Promise<void>
}

/**
 * Daily, and soon after a start: makes the coming months' partitions, then does each chore for each tenant. One
 * tenant's failure does not keep the others waiting; the job fails afterwards, so that it is tried again.
 */
export function housekeepingJob(
  database: Database,
  listTenants: () => Promise<readonly string[]>,
  chores: readonly TenantChore[],
): JobDefinition {
  return {
    name: 'housekeeping',
    cron: '17 3 * * *',
    atStart: true,
    handler: async ({ signal }) => {
      await database.withRegistry(ensureRecordPartitions)
      const failures: unknown[] = []
      for (const tenantId of await listTenants()) {
        for (const chore of chores) {
          if (signal.aborted) return
          await database.withTenant(tenantId, (tx) => chore.run(tx)).catch((error: unknown) => failures.push(error))
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} chores failed`)
    },
  }
}
