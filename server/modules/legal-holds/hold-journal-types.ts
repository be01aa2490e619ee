import type { Tenant } from '../../http/caller.ts'
import type { Actor } from '../governance/governance-types.ts'
import type { PlacedHold } from './holds-types.ts'

/** A legal hold as placed. */
export type JournaledHold = Omit<PlacedHold, 'record_count'> & {
  tenant: string
  hold_id: string
  record_ids: readonly string[]
}

export type JournaledHoldRelease = Record<
  'tenant' | 'hold_id' | 'released_at' | 'released_by' | 'release_reason',
  string
>

/**
 * Stores holds outside of the database, so that a restored database does not release records that were held since. A
 * surplus hold in the journal holds too much and can be released. So holds are stored here before the commit, and
 * releases after it.
 */
export interface HoldJournal {
  /**
   * Returns once the hold is stored. Must be called before the transaction that stores the hold commits, so that the
   * journal is complete.
   */
  keep(hold: JournaledHold): Promise<void>
  /** Returns once the release is stored. Called after the commit, and again if the release is repeated. */
  keepEnd(end: JournaledHoldRelease): Promise<void>
  /** Lists all holds of a tenant, in any order. */
  read(tenant: string): AsyncIterable<{ hold: JournaledHold; end: JournaledHoldRelease | undefined }>
}

export interface HoldReplay {
  /**
   * Places the journal's active holds that the database lacks, and releases those that had ended, each with its own
   * governance event. Must be called before anything is purged or erased.
   */
  reapply(tenant: Tenant, list: HoldJournal, actor: Actor): Promise<{ placed: number; released: number }>
}
