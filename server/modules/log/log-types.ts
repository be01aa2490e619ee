import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

/** A leaf of a tenant's log: a seal, with the lowest and the highest id of its records, both inclusive. */
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
 * The hashes that, with the leaves from `from` to `to` (exclusive), lead to the root of a log of a size: the roots of
 * the complete subtrees before and behind the range, from left to right.
 */
export interface RangeProof {
  left: Uint8Array[]
  right: Uint8Array[]
}

/** Provides the logs of tenants to other modules: an RFC 6962 tree over the signed notes of seals. */
export interface TenantLogs {
  /**
   * Integrates pending arrivals, in transactions of its own, and returns the head that covers them. Also signs a head
   * for an empty log. Must not be called inside a transaction.
   */
  integrate(tenant: Tenant): Promise<LogHead>
  /** Returns the stored head without integrating anything; undefined before the first one. */
  head(tx: TenantTx): Promise<LogHead | undefined>
  /** Returns the entries from an index on, in order, at most `limit`. */
  entries(tx: TenantTx, from: number, limit: number): Promise<LogEntry[]>
  /** Returns the entry of a seal; undefined before its integration. */
  entryOf(tx: TenantTx, sealId: string): Promise<LogEntry | undefined>
  /** Returns PATH of RFC 6962 §2.1.1 in the log of that size. The log must have reached it. */
  inclusionPath(tx: TenantTx, logIndex: number, treeSize: number): Promise<Uint8Array[]>
  /** Returns the leaf hashes of the tree from `from` to `to` (exclusive). */
  leaves(tx: TenantTx, from: number, to: number): Promise<Uint8Array[]>
  /** Returns PROOF(from, D[to]) of RFC 6962 §2.1.2. The log must have reached both sizes. */
  consistencyPath(tx: TenantTx, from: number, to: number): Promise<Uint8Array[]>
  rangeProof(tx: TenantTx, from: number, to: number, treeSize: number): Promise<RangeProof>
  /**
   * Returns the leaf hashes of a range, and the root to which they lead with the rest of a tree of that size; undefined
   * if the stored tree is damaged.
   */
  range(
    tx: TenantTx,
    from: number,
    to: number,
    treeSize: number,
  ): Promise<{ leaves: Uint8Array[]; root: Uint8Array } | undefined>
  /**
   * Returns the next records in id order, and those of them, and of the tombstones between them, that no seal in the
   * log or waiting for it covers. Requires a transaction of `inIndexOrder`.
   *
   * @param afterId null begins with the first record
   */
  uncovered(tx: TenantTx, afterId: string | null, limit: number): Promise<UncoveredRange>
}

/** A record or tombstone that the log does not explain. */
export interface UncoveredRow {
  record_id: string
  seal_id: string
  is_tombstone: boolean
}

export interface UncoveredRange {
  /** The id from which to continue; undefined at the end. */
  lastId: string | undefined
  records: number
  uncovered: UncoveredRow[]
}

/** Reads checkpoints that are stored outside of the database. */
export interface StoredCheckpoints {
  /** Returns the stored checkpoint of a log's largest tree; undefined if none exists or none is readable. */
  newest(logName: string): Promise<{ treeSize: number; checkpoint: string } | undefined>
  /** Returns up to `count` earlier checkpoints from each sink, not always the same ones. */
  some(logName: string, count: number): Promise<{ treeSize: number; checkpoint: string }[]>
  /** Returns some checkpoints that were stored shortly before and after a time, by their tree sizes. */
  near(logName: string, time: string): Promise<{ treeSize: number; checkpoint: string }[]>
  /** Returns the known logs that are lost: their tenants, the rows of these, or the files of the logs. */
  lostLogs(): Promise<LostLog[]>
}

/** A known log that is missing. `no_rows`: the tenant has an entry, but no head or no key. */
export interface LostLog {
  log_name: string
  problem: 'no_tenant' | 'no_rows' | 'no_file'
}
