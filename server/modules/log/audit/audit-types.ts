import type { Tenant } from '../../../http/caller.ts'
import type { CheckpointSource } from './checkpoint-source.ts'

/** Something that is not as the log, or a checkpoint, says. */
export interface AuditFailure {
  /** `head`, `key:<id>`, `entry:<index>`, `tile:<level>/<index>`, `seal:<id>`, `record:<id>`, `<file>:<line>`. */
  at: string
  reason: string
}

/** What an audit of one log found, in the names of the command's answer. */
export interface LogAuditResult {
  tenant: string
  log_name: string
  verified: boolean
  /** Of the state that was audited: the one stored when it began. */
  tree_size: number
  /** In base64. */
  root_hash: string
  signed_at?: string
  /** Leaves of the log whose seal was found and is what the log says. */
  seals: number
  /** Whose text, hash and leaf agree. */
  records: number
  /** Leaves of records that were erased, with the evidence for it. */
  erased: number
  /** That were compared, and that agree with the log unless a failure says otherwise. */
  checkpoints: number
  /** All of them; `failures` has the first ones. */
  failed: number
  failures: AuditFailure[]
}

export interface LogAudit {
  /**
   * Re-reckons the tenant's log from its entries, seals and records up, and compares the result with the tiles, with the
   * signed head and with checkpoints that were kept elsewhere. Takes in first what waits. Memory is bounded: a page of
   * entries at a time, each in a transaction of its own.
   *
   * @param against one after the other; checkpoints of other logs in them are passed over
   */
  audit(tenant: Tenant, against: readonly CheckpointSource[]): Promise<LogAuditResult>
}
