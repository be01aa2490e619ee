import type { Config } from '../config.ts'
import type { ConnectionTarget } from '../db/connection-settings.ts'
import type { MetricsSnapshot } from '../metrics/metrics.ts'
import type { LimiterRequest, LimiterResponse } from './ipc-rate-limiter.ts'

/** Everything a worker needs, over the channel that only primary and worker have: it holds secrets. */
export interface WorkerStart {
  kind: 'start'
  /** 1 to the number of workers; a replacement has that of the worker it replaces. */
  worker: number
  /** With the port and the address that were chosen; the master key is apart. */
  config: Omit<Config, 'masterKey'>
  /** Base64. */
  masterKey: string
  /** Owner of the embedded database; absent where the configuration names a database. */
  embeddedOwner?: ConnectionTarget
  /** Why the web UI could not be built. */
  webUiProblem?: string
}

/** From the primary to a worker. `connection` comes with the socket. */
export type ToWorker =
  | WorkerStart
  | { kind: 'connection'; connection: number }
  | { kind: 'drain' }
  | LimiterResponse
  | MetricsRequest
  | StorageFull

/** From a worker to the primary. */
export type FromWorker =
  | { kind: 'ready' }
  /** It has this connection, of which nothing has been read before. */
  | { kind: 'taken'; connection: number }
  /** The connection is closed, or was lost on the way. */
  | { kind: 'closed'; connection: number }
  /** It could not start. `fix` is there when an operator can mend it. */
  | { kind: 'failed'; message: string; fix?: string }
  | LimiterRequest
  | MetricsResponse
  | StorageFull

/** The database reported a full disk to one process. The health check of every process says so. */
export interface StorageFull {
  kind: 'storage-full'
}

/** The primary shows the numbers of all. */
export interface MetricsRequest {
  kind: 'metrics-request'
  request: number
}

export interface MetricsResponse {
  kind: 'metrics-answer'
  request: number
  metrics: MetricsSnapshot
}
