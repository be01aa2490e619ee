import type { Config } from './config.ts'
import type { Modules } from './create-modules.ts'
import type { ConnectionTarget } from './db/connection-settings.ts'
import type { Database, DatabaseLog } from './db/database.ts'
import { inBackground } from './db/work-classes.ts'
import { housekeepingJob } from './jobs/housekeeping.ts'
import { JobQueue } from './jobs/queue.ts'
import type { Metrics } from './metrics/metrics.ts'

/** Starts and stops the background services of a process. */
export interface Background {
  queue: JobQueue
  /** Starts in the background and returns at once. */
  start(): void
  /** Waits for running work, at most for the drain time. */
  stop(): Promise<void>
}

interface BackgroundParts {
  database: Database
  app: ConnectionTarget
  modules: Modules
  config: Pick<Config, 'role' | 'drainSeconds'>
  log: DatabaseLog
  /** Absent if no metrics are shown. */
  metrics?: Metrics | undefined
}

/**
 * Creates the background work of a process. A process of the role `api`, such as a worker of a cluster, only sends
 * jobs, so one process of another role must run.
 */
export function createBackground(parts: BackgroundParts): Background {
  const { database, modules, config, log, metrics } = parts
  const queue = new JobQueue(parts.app, config, log)
  queue.registerJob(
    housekeepingJob(database, () => modules.tenants.directory.slugs(), [
      { name: 'delete expired idempotency keys', run: (tx) => modules.recordStore.idempotency.deleteExpired(tx) },
      { name: 'delete expired links', run: (tx) => modules.links.deleteExpired(tx) },
      { name: 'delete claims of old reports', run: (tx) => modules.hub.deleteOldClaims(tx) },
      { name: 'delete old revocations', run: (tx) => modules.revocations.deleteOld(tx) },
      ...modules.auth.chores,
      ...modules.exports.chores,
      ...modules.roster.sync.chores,
      ...modules.webhooks.chores,
      ...modules.inbound.chores,
    ]),
  )
  const { telemetry, auth, hub, exports } = modules
  for (const job of [
    ...telemetry.jobs,
    ...auth.jobs,
    ...hub.jobs,
    ...exports.jobs,
    ...modules.roster.sync.jobs,
    ...modules.budgets.jobs,
  ])
    queue.registerJob(job)
  modules.jobSender.connect(queue)
  const { folder } = modules.rollups
  return {
    queue,
    start: () => {
      if (metrics) showMetrics(metrics, parts, queue)
      telemetry.pressure.start()
      inBackground(() => {
        queue.start()
        if (config.role === 'api') return modules.log.tellOthers()
        folder.start()
        modules.checkpoints.keeper.start()
        modules.log.start()
        hub.sweeper.start()
        hub.searchIndexer.start()
        modules.distribution.publisher.start()
        modules.webhooks.start(metrics)
        modules.budgets.start()
      })
    },
    stop: async () => {
      // Stop these before the queue waits for their jobs.
      exports.stop()
      telemetry.pressure.stop()
      modules.roster.sync.stop()
      await Promise.all([
        modules.distribution.publisher.stop(),
        modules.webhooks.stop(),
        modules.budgets.stop(),
        queue.stop(),
        folder.stop(),
        modules.log.stop(),
        hub.sweeper.stop(),
        hub.searchIndexer.stop(),
      ])
      // The keeper stops last, when nothing is signed any more.
      await modules.checkpoints.keeper.stop()
    },
  }
}

/** Adds the metrics of the process that are read for each page, and those that count events. */
function showMetrics(metrics: Metrics, { database, modules, config }: BackgroundParts, queue: JobQueue): void {
  const { disk, exports, checkpoints, events, workLag } = modules
  // One process per machine measures the exports and the lag of all tenants.
  const measures = config.role !== 'api'
  metrics.showDatabaseWaits(() => database.waits())
  metrics.showDisk(async () => ({ free: await disk.free(), floorBytes: disk.floorBytes }))
  metrics.showExports(() => inBackground(() => exports.figures({ bytes: measures })))
  metrics.showWork({
    connections: () => database.connections(),
    replicaReads: () => database.replicaReads(),
    jobs: () => queue.depths(),
    lag: async () => (measures ? inBackground(() => workLag.read()) : {}),
    failingCheckpoints: () => checkpoints.keeper.failing(),
  })
  events.on('telemetryStored', ({ events: count }) => metrics.events.telemetryStored(count))
  events.on('ingestSlowed', ({ outcome }) => metrics.events.ingestSlowed(outcome))
  events.on('otlpReceived', ({ signal, ...counts }) => metrics.events.otlpReceived(signal, counts))
  events.on('checkpointMismatch', () => metrics.events.checkpointMismatched())
}
