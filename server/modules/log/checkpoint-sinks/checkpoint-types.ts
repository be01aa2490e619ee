import type { Tenant } from '../../../http/caller.ts'
import type { LogHead } from '../log-types.ts'

/** A signed state of a log, as it is kept: a line of a file, the body of a request. */
export interface StoredCheckpoint {
  /** RFC 3339, UTC. */
  kept_at: string
  log_name: string
  tree_size: number
  /** The note (C2SP tlog-checkpoint). */
  checkpoint: string
}

/**
 * Whether the later state begins with the earlier one, as the stored tree proves it. Throws where it cannot be told now.
 */
export type ConsistencyCheck = (earlier: StoredCheckpoint, later: StoredCheckpoint) => Promise<boolean>

/** A place apart from the database. */
export interface CheckpointSink {
  /** In words, for messages; never with what may be a secret. */
  readonly place: string
  /**
   * Returns once it is kept there, or one that continues it. Throws {@link LogRollbackError} where a state was kept before
   * that it does not agree with, and other errors where it should be tried again.
   */
  keep(checkpoint: StoredCheckpoint, continues: ConsistencyCheck): Promise<void>
  /** The one of the largest tree; undefined where there is none, or where the place cannot be read. */
  newest(logName: string): Promise<StoredCheckpoint | undefined>
  /** Some of those before it, at most so many, not always the same: each is met sooner or later. */
  some(logName: string, count: number): Promise<StoredCheckpoint[]>
}

/** What is to be kept and what was kept are not of one history: the log was set back, or written anew. */
export class LogRollbackError extends Error {
  override readonly name = 'RolledBackError'
  /** What was kept. */
  readonly kept: StoredCheckpoint

  constructor(message: string, kept: StoredCheckpoint) {
    super(message)
    this.kept = kept
  }
}

/** Hands signed states of logs to the sinks, off every critical path. */
export interface CheckpointPublisher {
  /** Hears of a new state after its commit. Never throws; of states in quick succession the last one is kept. */
  headSigned(tenant: Tenant, head: LogHead): void
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
