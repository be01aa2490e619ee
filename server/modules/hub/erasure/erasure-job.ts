import type { JobDefinition } from '../../../jobs/queue.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Erasure } from './erasure-types.ts'

/**
 * Hourly, and soon after a start: purges what is too old, then erases what was purged long enough ago. One tenant's
 * failure does not keep the others waiting; the job fails afterwards, so that it is tried again.
 */
export function hardDeleteJob(deps: { erasure: Erasure; directory: TenantDirectory }): JobDefinition {
  const { erasure, directory } = deps
  return {
    name: 'hard-delete',
    cron: '37 * * * *',
    atStart: true,
    handler: async ({ signal }) => {
      const failures: unknown[] = []
      for (const slug of await directory.slugs()) {
        const tenant = await directory.find(slug)
        if (tenant === undefined) continue
        try {
          await erasure.purgeOverdue(tenant, { signal })
          await erasure.run(tenant, { signal })
        } catch (error) {
          failures.push(error)
        }
        if (signal.aborted) return
      }
      if (failures.length > 0) throw new AggregateError(failures, `the records of ${failures.length} tenants stayed`)
    },
  }
}
