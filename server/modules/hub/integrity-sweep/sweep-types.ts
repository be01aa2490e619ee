import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Finding } from './finding.ts'

/** The result of a scan, with the names of the command's output. */
export interface ScanResult {
  checked: number
  /** The number of records whose verification failed, or that are missing. */
  failed: number
  /** The number of inconsistent log entries, seals, tombstones and states. */
  inconsistent: number
}

/** Verifies stored data again. Findings become `hub.tamper_detected` (`findingKey`). */
export interface Sweeper {
  /** Scans all data of a tenant at full speed. */
  sweep(tenant: Tenant, options?: { signal?: AbortSignal }): Promise<ScanResult>
  /** Starts scanning in the background, at a bounded rate. */
  start(): void
  stop(): Promise<void>
}

/** An inconsistency between an aggregate and the records that it was computed from. */
export type AuditFinding = Finding

/** One pass over another module's aggregates of a tenant. Its progress is in memory. */
export interface FigureAudit {
  /** Does the next short piece. */
  step(): Promise<{ findings: AuditFinding[] /** In records read. */; cost: number; isOver: boolean }>
}

/** Audits the aggregates of other modules, and their prices. */
export interface SweptFigures {
  /**
   * Creates the comparison of aggregates with the records.
   *
   * @param range `newest` is yesterday and today (UTC), which needs only the newest records
   */
  audit(tenant: Tenant, range: 'newest' | 'all'): FigureAudit
  /** Compares the tenant's price list with the governance event that set it. */
  prices(tx: TenantTx): Promise<{ isProven: boolean; eventId: string | undefined }>
}
