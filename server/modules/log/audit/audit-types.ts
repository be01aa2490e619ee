import type { KeyRing } from '../../../../provenance/index.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { CheckpointSource } from './checkpoint-source.ts'

/** A log, its trusted keys, and the reasons against other keys by their ids. */
export interface TrustedLog {
  logName: string
  trust: { keys: KeyRing; distrusted: ReadonlyMap<string, string> }
}

/** A disagreement with the log or a checkpoint. */
export interface AuditFailure {
  /** `head`, `key:<id>`, `entry:<index>`, `tile:<level>/<index>`, `seal:<id>`, `record:<id>`, `<file>:<line>`. */
  at: string
  reason: string
}

/** The result of a log's audit, with the names of the command's output. */
export interface LogAuditResult {
  tenant: string
  log_name: string
  verified: boolean
  /** The size of the audited state, which was stored when the audit began. */
  tree_size: number
  /** In base64. */
  root_hash: string
  signed_at?: string
  /** The number of log leaves whose seal exists and agrees with the log. */
  seals: number
  /** The number of records whose text, hash and leaf agree. */
  records: number
  /** The number of leaves of erased records with evidence of the erasure. */
  erased: number
  /** The number of compared checkpoints. They agree with the log unless a failure states otherwise. */
  checkpoints: number
  /** The number of all failures; `failures` lists only the first ones. */
  failed: number
  failures: AuditFailure[]
}

export interface LogAudit {
  /**
   * Recomputes the tenant's log from its entries, seals and records up. Compares the result with the tiles, the signed
   * head and checkpoints stored elsewhere. Integrates pending arrivals first. Memory is bounded: it reads one page of
   * entries at a time, each in a transaction of its own.
   *
   * @param against the sources in sequence; checkpoints of other logs are skipped
   */
  audit(tenant: Tenant, against: readonly CheckpointSource[]): Promise<LogAuditResult>
}
