/** A stored checkpoint of a log: a line of a file, or the body of a request. */
export interface StoredCheckpoint {
  /** RFC 3339, UTC. */
  kept_at: string
  log_name: string
  tree_size: number
  /** The note (C2SP tlog-checkpoint). */
  checkpoint: string
}

/**
 * Returns whether the later checkpoint is consistent with the earlier one, by the stored tree. Throws if this cannot be
 * determined now.
 */
export type ConsistencyCheck = (earlier: StoredCheckpoint, later: StoredCheckpoint) => Promise<boolean>

/** A place for checkpoints outside of the database. */
export interface CheckpointSink {
  /** The name for messages; must not contain secrets. */
  readonly place: string
  /**
   * Returns once the checkpoint, or one that continues it, is stored. Throws {@link LogRollbackError} if it is
   * inconsistent with a stored one, and other errors if the call must be retried.
   */
  keep(checkpoint: StoredCheckpoint, continues: ConsistencyCheck): Promise<void>
  /** Returns the checkpoint of the largest tree; undefined if there is none, or the sink cannot be read back. */
  newest(logName: string): Promise<StoredCheckpoint | undefined>
  /** Returns up to `count` earlier checkpoints, not always the same, so that in time each is returned. */
  some(logName: string, count: number): Promise<StoredCheckpoint[]>
}

/** Signals that a checkpoint is inconsistent with a stored one: the log was set back or rewritten. */
export class LogRollbackError extends Error {
  override readonly name = 'LogRollbackError'
  readonly kept: StoredCheckpoint

  constructor(message: string, kept: StoredCheckpoint) {
    super(message)
    this.kept = kept
  }
}

/** A file that was renamed because its log starts again from an earlier state. */
export interface PutAside {
  log_name: string
  tree_size: number
  /** Its new name. */
  file: string
}
