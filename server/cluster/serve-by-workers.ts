import type { Config } from '../config.ts'
import type { OpenedDatabase } from '../db/open-database.ts'
import type { ConnectionGate } from '../http/connection-gate.ts'
import type { RateLimiter } from '../http/rate-limits/rate-limiter.ts'
import { listenForConnections } from '../listening-sockets.ts'
import type { MetricsSnapshot } from '../metrics/metrics.ts'
import type { WorkerStart } from './ipc-messages.ts'
import { WorkerPool, type WorkerPoolOptions } from './worker-pool.ts'

const poolSizeMin = 2
/** The connections that an embedded server accepts for a service of one process. */
const embeddedConnections = 200
/** The connections of the primary itself, of commands beside the service, and reserved ones. */
const otherConnections = 60
/** The connections of a worker that sends jobs, listens for revoked tokens, and checks whether the database answers. */
const singleConnections = 2 + 1 + 1

/** Returns the number of connections of the application role for each process of a cluster: its share of the whole. */
export function poolSizeOf({ databasePoolSize, workers }: Pick<Config, 'databasePoolSize' | 'workers'>): number {
  return Math.max(poolSizeMin, Math.ceil(databasePoolSize / workers))
}

/** Returns the number of connections that an embedded server must accept for a cluster to use all of its own. */
export function serverConnections(config: Pick<Config, 'databasePoolSize' | 'workers'>): number {
  const size = poolSizeOf(config)
  return Math.max(
    embeddedConnections,
    (config.workers + 1) * (size + Math.ceil(size / 2) + singleConnections) + otherConnections,
  )
}

/** Listens, and answers requests in this process or in workers. */
export interface RequestServer {
  /** Returns the metrics of the workers; absent without workers. */
  workerMetrics?: () => Promise<MetricsSnapshot[]>
  /** Accepts no new connection, and lets requests finish for up to `drainSeconds`. */
  stop(): Promise<void>
}

/**
 * Answers requests in worker processes (ADR 0017). This process, the primary, listens and hands the connections out. It
 * also owns the database, the migrations, the background work and the rate limits.
 *
 * @param onListening receives the port, and returns the configuration with it
 * @throws StartupError that states the fix, for every problem that an operator can solve
 */
export async function serveByWorkers(options: {
  config: Config
  database: OpenedDatabase
  limiter: RateLimiter
  gate: ConnectionGate
  log: WorkerPoolOptions['log']
  webUiProblem: string | undefined
  onListening: (port: number) => Config
}): Promise<RequestServer> {
  const { config, database, limiter, gate, log, webUiProblem } = options
  let listening = config
  const pool = new WorkerPool({
    count: config.workers,
    drainSeconds: config.drainSeconds,
    limiter,
    onStorageFull: () => database.noteFull(),
    log,
    startOf: (worker) => startMessage(worker, database, listening, webUiProblem),
  })
  database.onFull(() => pool.tellStorageFull())
  const listener = await listenForConnections(config, (socket) => {
    const leave = gate.enter(socket)
    if (leave) pool.give(socket, leave)
  })
  // Closes the listener first: a connection accepted later would find no worker.
  const stop = () => {
    listener.close()
    return pool.drain()
  }
  try {
    listening = options.onListening(listener.port)
    await pool.start()
  } catch (error) {
    await stop()
    throw error
  }
  return { stop, workerMetrics: () => pool.metrics() }
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
