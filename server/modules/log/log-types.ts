import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

/** A leaf of a tenant's log: a seal, and between which ids its records lie, both included. */
export interface LogEntry {
  logIndex: number
  sealId: string
  firstId: string
  lastId: string
}

/** A signed state of the log. */
export interface LogHead {
  treeSize: number
  root: Uint8Array
  /** The note (C2SP tlog-checkpoint), with its signature. */
  checkpoint: string
}

/**
 * The hashes that, with the leaves from `from` to `to` (excluded), lead to the root of a log of a size: the roots of
 * the complete subtrees before and behind them, from left to right.
 */
export interface RangeProof {
  left: Uint8Array[]
  right: Uint8Array[]
}

/** The logs of tenants, as other modules see them: an RFC 6962 tree over the signed notes of seals. */
export interface TenantLogs {
  /**
   * Takes in the seals that have arrived, in transactions of its own, and answers the head that covers them; signs one
   * for an empty log, too. Not to be called inside a transaction.
   */
  integrate(tenant: Tenant): Promise<LogHead>
  /** The head as it is stored, without taking anything in; undefined before the first. */
  head(tx: TenantTx): Promise<LogHead | undefined>
  /** Entries from an index on, in order, at most `limit`. */
  entries(tx: TenantTx, from: number, limit: number): Promise<LogEntry[]>
  /** Of a seal; undefined while it has not been taken in. */
  entryOf(tx: TenantTx, sealId: string): Promise<LogEntry | undefined>
  /** PATH of RFC 6962 §2.1.1 in the log of that size, which the log has reached. */
  inclusionPath(tx: TenantTx, logIndex: number, treeSize: number): Promise<Uint8Array[]>
  /** The leaf hashes from an index on, as the tree has them. */
  leaves(tx: TenantTx, from: number, to: number): Promise<Uint8Array[]>
  rangeProof(tx: TenantTx, from: number, to: number, treeSize: number): Promise<RangeProof>
}

/** Checkpoints that are kept outside of the database. */
export interface KeptCheckpoints {
  /** The one of the largest tree that was kept of a log; undefined where none was, or none can be read back. */
  newest(logName: string): Promise<{ treeSize: number; checkpoint: string } | undefined>
  /** Some that were kept before, at most so many of each place, not always the same. */
  some(logName: string, count: number): Promise<{ treeSize: number; checkpoint: string }[]>
  /** Returns the logs that were kept and are gone: their tenants, the rows of these, or the files of the logs. */
  lostLogs(): Promise<LostLog[]>
}

/** How a log that is known has gone missing. `no_rows`: the tenant has an entry, and no head or no key. */
export interface LostLog {
  log_name: string
  problem: 'no_tenant' | 'no_rows' | 'no_file'
}
