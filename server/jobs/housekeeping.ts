import type { Database, TenantTx } from '../db/database.ts'
import { ensureRecordPartitions } from '../db/record-partitions.ts'
import type { JobDefinition } from './queue.ts'

/** Hourly work within one tenant, each run in a transaction of its own. */
export interface TenantChore {
  readonly name: string
  /** Does a short part of the work, and returns whether more may remain. */
  run(tx: TenantTx): Promise<boolean>
}

/**
 * Returns the hourly job, which also runs soon after a start. It creates the partitions of the coming months, then runs
 * each chore for each tenant. A tenant's failure does not stop the others; the job fails afterwards, so it is retried.
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
