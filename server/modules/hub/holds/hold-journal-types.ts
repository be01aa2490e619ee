import type { RecordFilter } from '../../../../contract/record-filter.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'

/** A legal hold as it was placed. */
export interface JournaledHold {
  tenant: string
  hold_id: string
  name: string
  reason: string
  /** Null where it names records. */
  filter: RecordFilter | null
  record_ids: readonly string[]
  created_at: string
  created_by: string
}

/** How one ended. */
export interface JournaledHoldRelease {
  tenant: string
  hold_id: string
  released_at: string
  released_by: string
  release_reason: string
}

/**
 * Keeps holds apart from the database: one that is restored must not let go of what was held since. What it has too much
 * holds too much, and can be released; so holds are kept before they are stored, and ends after.
 */
export interface HoldJournal {
  /** Returns once it is kept; called before the transaction commits that stores it, so that the list never lacks one. */
  keep(hold: JournaledHold): Promise<void>
  /** Returns once it is kept; called after the commit, and again when the release is repeated. */
  keepEnd(end: JournaledHoldRelease): Promise<void>
  /** All of a tenant, in any order. */
  read(tenant: string): AsyncIterable<{ hold: JournaledHold; end: JournaledHoldRelease | undefined }>
}

export interface HoldReplay {
  /**
   * Places again the holds in force that the list has and the database has not, and releases those that had ended, each
   * with a governance event of its own. To be called before anything is purged or erased.
   */
  reapply(tenant: Tenant, list: HoldJournal, actor: Actor): Promise<{ placed: number; released: number }>
}
