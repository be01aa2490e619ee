import type { JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

/** An inconsistency in stored data. The names of checks state the expected condition. */
export interface Finding {
  /**
   * `record:<id>`, `seal:<id>`, `log:<name>`, `keys:<name of the log>`, `sweep:<lane>`, `hold:<id>`, `tenant:<slug>`,
   * `user:<id>`, `service_account:<id>`, `connection:<id>`, `figures:<day>`, `figures:adjustments` or `prices:<slug>`
   */
  subject: string
  failedChecks: SweepCheck[]
  /** Ids, places and counts; never contents. */
  found: Record<string, JsonValue>
}

/** The result of a step of a round over rows. */
export interface RoundStep<Cursor> {
  rows: number
  findings: Finding[]
  cursor: Cursor
  /** Whether the round is over; the cursor then belongs to the next one. */
  isRoundOver: boolean
}

/** The checks of the sweeper besides the verification of each record; docs/attacks.md explains them. */
export type SweepCheck =
  | 'seal_present'
  | 'seal_in_log'
  | 'leaves_accounted_for'
  | 'leaf_claimed_once'
  | 'readable'
  | 'tombstone_proven'
  | 'content_erasure_proven'
  | 'tombstone_present'
  | 'state_follows_events'
  | 'record_in_log'
  | 'keys_genuine'
  | 'keys_introduced'
  | 'keys_published'
  | 'hold_present'
  | 'hold_proven'
  | 'hold_end_present'
  | 'hold_end_proven'
  | 'release_present'
  | 'release_proven'
  | 'retention_proven'
  | 'access_proven'
  | 'access_follows_events'
  | 'figures_match_records'
  | 'figures_views_agree'
  | 'figures_days_agree'
  | 'figures_readable'
  | 'ratings_proven'
  | 'erased_figures_proven'
  | 'adjustments_proven'
  | 'prices_proven'
  | 'log_entries_complete'
  | 'log_tree_readable'
  | 'log_tree_matches_head'
  | 'log_head_present'
  | 'log_head_signed'
  | 'sweep_claim_ends'
  | 'sweep_readable'
  | 'kept_checkpoint_signed'
  | 'log_continues_kept_checkpoint'
  | 'kept_checkpoints_present'

/** The result of a scan, with the names of the command's output. */
export interface ScanResult {
  checked: number
  /** The number of records whose verification failed, or that are missing. */
  failed: number
  /** The number of inconsistent log entries, seals, tombstones and states. */
  inconsistent: number
}

export interface ScanOptions {
  signal?: AbortSignal
  /** Whether the scan keeps to a bounded rate, which it shares with other such scans of the process. */
  isPaced?: boolean
}

/** Verifies stored data again. Findings become `hub.tamper_detected` (`findingKey`). */
export interface Sweeper {
  /** Scans all data of a tenant. */
  sweep(tenant: Tenant, options?: ScanOptions): Promise<ScanResult>
  /** Starts scanning in the background, at a bounded rate. */
  start(): void
  stop(): Promise<void>
}

/** One pass over another module's aggregates of a tenant. Its progress is in memory. */
export interface FigureAudit {
  /** Does the next short piece. */
  step(): Promise<{ findings: Finding[] /** In records read. */; cost: number; isOver: boolean }>
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
