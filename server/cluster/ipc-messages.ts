import type { Config } from '../config.ts'
import type { ConnectionTarget } from '../db/connection-settings.ts'
import type { MetricsSnapshot } from '../metrics/metrics.ts'
import type { LimiterRequest, LimiterResponse } from './ipc-rate-limiter.ts'

/**
 * Carries everything a worker needs. It contains secrets, so it travels only over the channel between primary and
 * worker.
 */
export interface WorkerStart {
  kind: 'start'
  /** From 1 to the number of workers. A replacement takes the number of the worker it replaces. */
  worker: number
  /** Contains the chosen port and address, but not the master key. */
  config: Omit<Config, 'masterKey'>
  /** The key in base64. */
  masterKey: string
  /** The owner of the embedded database; absent if the configuration names a database. */
  embeddedOwner?: ConnectionTarget
  /** Why the web UI could not be built. */
  webUiProblem?: string
}

/** Lists the messages from the primary to a worker. The socket accompanies `connection`. */
export type ToWorker =
  | WorkerStart
  | { kind: 'connection'; connection: number }
  | { kind: 'drain' }
  | LimiterResponse
  | MetricsRequest
  | StorageFull

/** Lists the messages from a worker to the primary. */
export type FromWorker =
  | { kind: 'ready' }
  /** The worker has this connection; nothing was read from it before. */
  | { kind: 'taken'; connection: number }
  /** The connection was closed, or lost in transit. */
  | { kind: 'closed'; connection: number }
  /** The worker could not start. `fix` is set if an operator can solve it. */
  | { kind: 'failed'; message: string; fix?: string }
  | LimiterRequest
  | MetricsResponse
  | StorageFull

/** Reports that one process met a full disk of the database. The health check of every process then shows it. */
export interface StorageFull {
  kind: 'storage-full'
}

/** Requests the metrics of a worker; the primary shows those of all. */
export interface MetricsRequest {
  kind: 'metrics-request'
  request: number
}

export interface MetricsResponse {
  kind: 'metrics-answer'
  request: number
  metrics: MetricsSnapshot
}
