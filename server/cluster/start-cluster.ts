import type { Logger } from 'pino'
import { createModules, type Modules } from '../app.ts'
import { createBackground } from '../background.ts'
import { type Config, withListeningPort } from '../config.ts'
import { type OpenedDatabase, openDatabase } from '../db/open-database.ts'
import { createConnectionGate } from '../http/connection-gate.ts'
import { openLimiter } from '../limits/open-limiter.ts'
import { type Listener, listenForConnections } from '../listening-sockets.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { RunningHub } from '../running-hub.ts'
import { checkStorageAtStart } from '../storage/storage-at-start.ts'
import { beginWebUiBuild, type WebUiBuild } from '../web-ui-build.ts'
import type { WorkerStart } from './ipc-messages.ts'
import { poolSizeOf, serverConnections } from './pool-sizes.ts'
import { WorkerPool } from './worker-pool.ts'

/**
 * Starts a Hub of several processes (ADR 0017). The calling process, the primary, owns the database, the migrations,
 * the background work, the listening socket and the rate limits. The workers answer requests.
 *
 * @throws StartupError that states the fix, for every problem that an operator can solve
 */
export async function startCluster(
  config: Config,
  log: Logger,
  { metrics }: { metrics?: Metrics | undefined } = {},
): Promise<RunningHub> {
  const webUi = beginWebUiBuild(config, log)
  try {
    const database = await openDatabase(
      { ...config, databasePoolSize: poolSizeOf(config) },
      { purpose: 'serve', log, postgresSettings: { max_connections: String(serverConnections(config)) } },
    )
    try {
      return await startOn(database, config, log, { metrics, webUi })
    } catch (error) {
      await database.stop()
      throw error
    }
  } catch (error) {
    webUi.stop()
    throw error
  }
}

async function startOn(
  database: OpenedDatabase,
  config: Config,
  log: Logger,
  { metrics, webUi }: { metrics: Metrics | undefined; webUi: WebUiBuild },
): Promise<RunningHub> {
  let listening = config
  const baseUrl = () => listening.baseUrl
  const { masterKey } = database
  const modules = await createModules({ config, database, masterKey, baseUrl, log })
  const onFallback = (isAlone: boolean) => metrics?.setLimiterFallback(isAlone)
  const { limiter, close: closeLimiter } = await openLimiter({ config, masterKey, log, onFallback })
  const onRefused = () => metrics?.connectionRefused()
  const gate = createConnectionGate({ config, baseUrl, log, onRefused })
  let webUiProblem: string | undefined
  const pool = new WorkerPool({
    count: config.workers,
    drainSeconds: config.drainSeconds,
    limiter,
    onStorageFull: () => database.noteFull(),
    log,
    startOf: (worker) => startMessage(worker, database, listening, webUiProblem),
  })
  database.onFull(() => pool.tellStorageFull())
  let listener: Listener | undefined
  try {
    await checkStorageAtStart(modules.storage, config, log)
    webUiProblem = await webUi.problem
    listener = await listenForConnections(config, (socket) => {
      const leave = gate.enter(socket)
      if (leave) pool.give(socket, leave)
    })
    listening = withListeningPort(config, listener.port)
    await pool.start()
    await database.announce(listening.baseUrl)
  } catch (error) {
    listener?.close()
    await pool.drain()
    await closeLimiter()
    await modules.close()
    throw error
  }
  const background = createBackground({ database, app: database.connection.app, modules, config, log, metrics })
  background.start()
  const parts = { listener, pool, background, closeLimiter, modules, database }
  return { config: listening, modules, workerMetrics: () => pool.metrics(), stop: () => stopAll(parts) }
}

function startMessage(
  worker: number,
  { masterKey, connection }: OpenedDatabase,
  config: Config,
  webUiProblem: string | undefined,
): WorkerStart {
  const { masterKey: _, ...rest } = config
  return {
    kind: 'start',
    worker,
    config: { ...rest, databasePoolSize: poolSizeOf(config) },
    masterKey: masterKey.toString('base64'),
    ...(webUiProblem !== undefined && { webUiProblem }),
    ...(connection.embedded && { embeddedOwner: connection.owner }),
  }
}

interface Parts {
  listener: Listener
  pool: WorkerPool
  background: { stop(): Promise<void> }
  closeLimiter(): Promise<void>
  modules: Modules
  database: OpenedDatabase
}

/** Closes the listener first: a connection accepted later would find no worker. */
async function stopAll({ listener, pool, background, closeLimiter, modules, database }: Parts): Promise<void> {
  listener.close()
  try {
    await Promise.all([pool.drain(), background.stop()])
  } finally {
    await closeLimiter()
    await modules.close()
    await database.stop()
  }
}
