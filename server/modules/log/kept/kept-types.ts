import type { Tenant } from '../../../http/caller.ts'
import type { LogHead } from '../log-types.ts'

/** A signed state of a log, as it is kept: a line of a file, the body of a request. */
export interface KeptCheckpoint {
  /** RFC 3339, UTC. */
  kept_at: string
  log_name: string
  tree_size: number
  /** The note (C2SP tlog-checkpoint). */
  checkpoint: string
}

/** A place apart from the database. */
export interface CheckpointSink {
  /** In words, for messages; never with what may be a secret. */
  readonly place: string
  /**
   * Returns once it is kept there. Throws {@link RolledBackError} where a later state of the log was kept before, and
   * other errors where it should be tried again.
   */
  keep(checkpoint: KeptCheckpoint): Promise<void>
  /** The one of the largest tree; undefined where there is none, or where the place cannot be read. */
  newest(logName: string): Promise<KeptCheckpoint | undefined>
}

/** What is to be kept is older than what was kept, or of the same size and other: the log was set back. */
export class RolledBackError extends Error {
  override readonly name = 'RolledBackError'
}

/** Hands signed states of logs to the sinks, off every critical path. */
export interface CheckpointKeeper {
  /** Hears of a new state after its commit. Never throws; of states in quick succession the last one is kept. */
  headSigned(tenant: Pick<Tenant, 'slug' | 'logName'>, head: LogHead): void
  /** Until then nothing is kept. States that other processes, or this one before a crash, have signed are kept too. */
  start(): void
  /** Tries once to keep what waits, for a few seconds at most. */
  stop(): Promise<void>
}

/** What was put aside, because a log begins again from an earlier state. */
export interface PutAside {
  log_name: string
  tree_size: number
  /** Its new name. */
  file: string
}
