import type { Modules } from './app.ts'
import type { Config } from './config.ts'
import type { MetricsSnapshot } from './metrics/metrics.ts'

/** A Hub that serves requests. */
export interface RunningHub {
  /** The configuration with the chosen port. */
  config: Config
  modules: Modules
  /** Returns the metrics of the workers; absent without workers. */
  workerMetrics?(): Promise<MetricsSnapshot[]>
  /** Accepts no new connection, lets requests and jobs finish for up to `drainSeconds`, then stops everything. */
  stop(): Promise<void>
}
