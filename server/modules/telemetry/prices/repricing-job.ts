import type { DatabaseLog } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { JobDefinition } from '../../../jobs/queue.ts'
import type { RepricingRuns } from './repricing-service.ts'
import type { RepricingRequest } from './repricing-types.ts'

export const repricingJobName = 'rate-telemetry-again'

/** The data that the queue stores for a run until it has ended. */
interface RatingJobData {
  tenant: string
  order: RepricingRequest
}

export function repricingJobData(tenant: Tenant, order: RepricingRequest): RatingJobData {
  return { tenant: tenant.slug, order }
}

/**
 * Defines the job for runs that were requested over HTTP. A run that exceeds the time of a job continues in its next
 * try.
 */
export function repricingJob(deps: {
  runs: Pick<RepricingRuns, 'run'>
  findTenant: (slug: string) => Promise<Tenant | undefined>
  log: Pick<DatabaseLog, 'warn'>
}): JobDefinition {
  return {
    name: repricingJobName,
    retryLimit: 12,
    pollingIntervalSeconds: 1,
    handler: async ({ data, signal }) => {
      const { tenant: slug, order } = data as RatingJobData
      const tenant = await deps.findTenant(slug)
      if (tenant) await deps.runs.run(tenant, order, signal)
      else deps.log.warn({ tenant: slug, runId: order.runId }, 'a tenant that is gone is not rated again')
    },
  }
}
