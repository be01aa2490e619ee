import { rosterSyncsAtOnce, slowRosterSyncsAtOnce } from '../../../../contract/limits.ts'
import type { DatabaseLog } from '../../../db/database.ts'
import type { JobDefinition } from '../../../jobs/queue.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { ArchetypeReconciliationRuns } from './archetype-reconciliation.ts'
import type { SyncLane } from './sync-time-slice.ts'
import type { SyncWorker } from './sync-worker.ts'
import type { SyncSchedule } from './syncs-service.ts'

export const syncJobNames: Record<SyncLane, string> = { quick: 'roster-sync', slow: 'roster-sync-slow' }
export const settlingJobName = 'settle-archetypes'

/** Never reached: the counter of the sync decides, not that of the queue. */
const retryLimit = 1000

export function syncJobs(deps: {
  runs: SyncWorker
  schedule: SyncSchedule
  settling: ArchetypeReconciliationRuns
  tenants: Pick<TenantDirectory, 'find' | 'slugs'>
  log: DatabaseLog
}): JobDefinition[] {
  const turnsOf = (lane: SyncLane, all: number, pollingIntervalSeconds: number): JobDefinition => ({
    name: syncJobNames[lane],
    retryLimit,
    retryDelaySeconds: 1,
    pollingIntervalSeconds,
    sideBySide: { all, ofGroup: 1 },
    handler: async ({ data, signal }) => {
      const { tenant, sync_id: syncId } = data as { tenant: string; sync_id: string }
      await deps.runs.run(tenant, syncId, lane, signal)
    },
  })
  return [
    turnsOf('quick', rosterSyncsAtOnce, 0.5),
    turnsOf('slow', slowRosterSyncsAtOnce, 2),
    {
      name: 'roster-syncs-due',
      cron: '*/5 * * * *',
      atStart: true,
      handler: async ({ signal }) => {
        for (const slug of await deps.tenants.slugs()) {
          if (signal.aborted) return
          const tenant = await deps.tenants.find(slug)
          await (tenant && deps.schedule.startIfDue(tenant))?.catch((err: unknown) =>
            deps.log.warn({ err, tenant: slug }, 'a sync of the roster did not begin'),
          )
        }
      },
    },
    {
      name: settlingJobName,
      handler: async ({ data, signal }) => {
        const { tenant, after } = data as { tenant: string; after: string }
        await deps.settling.run(tenant, after, signal)
      },
    },
  ]
}
