import type { FastifyInstance } from 'fastify'
import { rosterSyncsAtOnce, slowRosterSyncsAtOnce } from '../../../../contract/limits.ts'
import type { DatabaseLog, TenantTx } from '../../../db/database.ts'
import type { JobSender } from '../../../jobs/job-sender.ts'
import type { JobDefinition } from '../../../jobs/queue.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Directory } from '../directory/directory-types.ts'
import { type ArchetypeReconciliation, createArchetypeReconciliation } from './archetype-reconciliation.ts'
import type { SyncLane } from './sync-attempt.ts'
import type { RosterUpkeep } from './sync-types.ts'
import { type ScheduledTimeSlice, SyncWorker } from './sync-worker.ts'
import { addSyncRoutes } from './syncs-routes.ts'
import { Syncs } from './syncs-service.ts'
import { lastCompletedAt } from './syncs-store.ts'

const syncJobNames: Record<SyncLane, string> = { quick: 'roster-sync', slow: 'roster-sync-slow' }

const settlingJobName = 'settle-archetypes'

/** Never reached: the counter of the sync decides, not that of the queue. */
const retryLimit = 1000

export type SyncModuleParts = Omit<ConstructorParameters<typeof SyncWorker>[0], 'directory' | 'goOn'> & {
  tenants: Pick<TenantDirectory, 'find' | 'slugs'>
  jobSender: Pick<JobSender, 'send'>
}

export function createSyncModule(deps: SyncModuleParts & { cursorKey: Buffer; directory: Directory }) {
  const { jobSender, connections } = deps
  const goOn = (tx: TenantTx, syncId: string, { lane, startAfter }: ScheduledTimeSlice) =>
    jobSender.send(
      syncJobNames[lane],
      { tenant: tx.tenantId, sync_id: syncId },
      { tx, group: tx.tenantId, ...(startAfter && { startAfter }) },
    )
  const runs = new SyncWorker({ ...deps, goOn })
  const syncs = new Syncs({
    ...deps,
    begin: (tx, syncId) => goOn(tx, syncId, { lane: 'quick' }),
    stopAttempt: (syncId) => runs.stopAttempt(syncId),
  })
  const settling = createArchetypeReconciliation({
    ...deps,
    goOn: (tx, after) => jobSender.send(settlingJobName, { tenant: tx.tenantId, after }, { tx }),
  })
  return {
    upkeep: { settle: settling.settle, endSyncs: (...asked) => syncs.endOpen(...asked) } satisfies RosterUpkeep,
    /** Reconciles archetypes with groups in the background once the transaction commits. */
    settleLater: settling.later,
    lastSynced: {
      /** Returns when the directory was last in step: the last completed sync, or in push mode also its last request. */
      async lastSyncedAt(tx: TenantTx): Promise<string | undefined> {
        const configuration = await connections.of(tx)
        if (!configuration) return undefined
        const { mode, lastRequestAt } = configuration
        const times = [await lastCompletedAt(tx, mode), mode === 'push' ? lastRequestAt : undefined]
        return times
          .filter((each) => each !== undefined)
          .sort()
          .at(-1)
      },
    },
    jobs: syncJobs({ ...deps, runs, schedule: syncs, settling }),
    chores: [{ name: 'delete old syncs of the roster', run: (tx: TenantTx) => syncs.deleteOld(tx) }],
    routes: (app: FastifyInstance) => addSyncRoutes(app, syncs),
    /** Stops syncs. Another worker continues them, or this one after its next start. */
    stop: () => runs.stop(),
  }
}

function syncJobs(deps: {
  runs: SyncWorker
  schedule: Syncs
  settling: ArchetypeReconciliation
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
            deps.log.warn({ err, tenant: slug }, 'a sync of the roster did not start'),
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
