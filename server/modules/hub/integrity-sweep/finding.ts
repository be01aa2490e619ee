import type { JsonValue } from '../../../../provenance/json.ts'

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

/** The checks of the sweeper besides the verification of each record; docs/auditor.md explains them. */
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

/** Maximum length of a list in a finding. Longer lists are reported with their full count. */
export const listedMax = 64

/** Returns a list in the form of a finding, shortened, so that events stay small regardless of the damage. */
export function listed<Item extends string | number>(name: string, items: readonly Item[]): Record<string, JsonValue> {
  const shown: JsonValue = items.slice(0, listedMax)
  return items.length > listedMax ? { [name]: shown, [`${name}_count`]: items.length } : { [name]: shown }
}
