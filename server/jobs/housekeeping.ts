import type { Database, TenantTx } from '../db/database.ts'
import { ensureRecordPartitions } from '../db/record-partitions.ts'
import type { JobDefinition } from './queue.ts'

/** Hourly work within one tenant, in transactions of its own. */
export interface TenantChore {
  readonly name: string
  /** Does a part that ends soon, and answers whether there may be more to do. */
  run(tx: TenantTx): Promise<boolean>
}

/**
 * Hourly, and soon after a start: makes the coming months' partitions, then does each chore for each tenant. One
 * tenant's failure does not keep the others waiting; the job fails afterwards, so that it is tried again.
 */
export function housekeepingJob(
  database: Database,
  listTenants: () => Promise<readonly string[]>,
  chores: readonly TenantChore[],
): JobDefinition {
  return {
    name: 'housekeeping',
    cron: '17 * * * *',
    atStart: true,
    handler: async ({ signal }) => {
      await database.withRegistry(ensureRecordPartitions)
      const failures: unknown[] = []
      for (const tenantId of await listTenants()) {
        for (const chore of chores) {
          try {
            let more = true
            while (more && !signal.aborted) more = await database.withTenant(tenantId, (tx) => chore.run(tx))
          } catch (error) {
            failures.push(error)
          }
          if (signal.aborted) return
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} chores failed`)
    },
  }
}
