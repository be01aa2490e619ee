import type { Modules } from './app.ts'
import type { Config } from './config.ts'

/** A Hub that serves. */
export interface RunningHub {
  /** With the port that was chosen. */
  config: Config
  modules: Modules
  /** Takes no new connection, lets requests and jobs finish for up to `drainSeconds`, then stops everything. */
  stop(): Promise<void>
}
