import type { Modules } from './app.ts'
import type { Config } from './config.ts'
import type { MetricsSnapshot } from './metrics/metrics.ts'

/** A Hub that serves. */
export interface RunningHub {
  /** With the port that was chosen. */
  config: Config
  modules: Modules
  /** What the other processes that answer requests have counted, where there are any. */
  workerMetrics?(): Promise<MetricsSnapshot[]>
  /** Takes no new connection, lets requests and jobs finish for up to `drainSeconds`, then stops everything. */
  stop(): Promise<void>
}
