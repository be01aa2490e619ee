import { canonicalize } from '../../../../provenance/index.ts'
import { type Database, type DatabaseLog, readTenant, type TenantTx } from '../../../db/database.ts'
import type { ProofRules } from '../../../db/row-proofs.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { JobDefinition } from '../../../jobs/queue.ts'
import type { RepricingRuns } from './repricing-service.ts'
import type { RepricingRequest } from './repricing-types.ts'

export const repricingJobName = 'rate-telemetry-again'

/** The data that the queue stores for a run until it has ended. */
interface RatingJobData {
  tenant: string
  order: RepricingRequest
  /** The MAC of the request: its actor goes into a governance event, and the queue is in the database. */
  proof: string
}

const requestsInQueue: ProofRules<RepricingRequest> = {
  table: 'hub_jobs.job',
  fields: ({ runId, range, actor, cause }) => [
    canonicalize(JSON.parse(JSON.stringify({ runId, range, actor, cause }))),
  ],
  subject: (_order, tenantId) => `tenant:${tenantId}`,
}

export function repricingJobData(tx: TenantTx, order: RepricingRequest): RatingJobData {
  const proof = tx.proofs.of(requestsInQueue, tx.tenantId, order).toString('base64url')
  return { tenant: tx.tenantId, order, proof }
}

/** Returns whether the Hub queued the request. Reports it otherwise. */
function isSound(tx: TenantTx, { order, proof = '' }: Partial<RatingJobData>): boolean {
  const row = order && { ...order, proof: Buffer.from(proof, 'base64url') }
  return tx.proofs.sound(requestsInQueue, tx.tenantId, row) !== undefined
}

/**
 * Defines the job for runs that were requested over HTTP. A run that exceeds the time of a job continues in its next
 * try.
 */
export function repricingJob(deps: {
  database: Pick<Database, 'withTenant'>
  runs: Pick<RepricingRuns, 'run'>
  findTenant: (slug: string) => Promise<Tenant | undefined>
  log: Pick<DatabaseLog, 'warn'>
}): JobDefinition {
  return {
    name: repricingJobName,
    retryLimit: 12,
    pollingIntervalSeconds: 1,
    handler: async ({ data, signal }) => {
      const job = data as RatingJobData
      const { tenant: slug, order } = job
      const tenant = await deps.findTenant(slug)
      if (!tenant) {
        deps.log.warn({ tenant: slug, runId: order.runId }, 'a deleted tenant is not repriced')
        return
      }
      const sound = await readTenant(deps.database, slug, async (tx) => isSound(tx, job))
      if (sound) await deps.runs.run(tenant, order, signal)
    },
  }
}
