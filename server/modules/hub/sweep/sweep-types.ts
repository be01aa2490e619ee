import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Finding } from './finding.ts'

/** What a pass found, in the names of the command's answer. */
export interface ScanResult {
  checked: number
  /** Records whose verification failed, or that are missing. */
  failed: number
  /** Entries of the log, seals, tombstones and states that do not agree with one another. */
  inconsistent: number
}

/** Re-verifies what is stored. Findings become `hub.tamper_detected` (`findingKey`). */
export interface Sweeper {
  /** Goes through all of a tenant at once, as fast as it can. */
  sweep(tenant: Tenant, options?: { signal?: AbortSignal }): Promise<ScanResult>
  /** Goes round in the background, at a bounded rate. */
  start(): void
  stop(): Promise<void>
}

/** Something that was computed from records and does not agree with them. */
export type AuditFinding = Finding

/** One pass over what another module computed from the records of a tenant. It keeps its progress in memory. */
export interface FigureAudit {
  /** Does the next short piece of it. */
  step(): Promise<{ findings: AuditFinding[] /** In records read. */; cost: number; isOver: boolean }>
}

/** Figures that other modules compute from records, and prices that they compute with. */
export interface SweptFigures {
  /**
   * Begins to compare aggregates with the records.
   *
   * @param range `newest` is yesterday and today (UTC), which takes the newest records only
   */
  audit(tenant: Tenant, range: 'newest' | 'all'): FigureAudit
  /** Compares the tenant's price list with the governance event that set it. */
  prices(tx: TenantTx): Promise<{ isProven: boolean; eventId: string | undefined }>
}
