import type { FilteredRecord } from '../../../../contract/record-filter.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Release } from '../record-state-store.ts'

/** A record as holds look at it. */
export interface HeldRecord extends FilteredRecord {
  /** RFC 3339, UTC, six fractional digits; the same in the canonical text and in the id. */
  created_at: string
}

/** A release of a governance event. */
export type ProvenRelease = Release & {
  /** Whether four eyes were required when it was created. */
  fourEyes: boolean
}

/** What a hold is called in errors. */
export interface HoldName {
  hold_id: string
  name: string
}

/** Legal holds, as what deletes records sees them. */
export interface HoldCheck {
  /**
   * Keeps holds from being placed or released until the transaction ends; others that only check may do so at the
   * same time. To be called before what it protects.
   */
  lock(tx: TenantTx): Promise<void>
  /**
   * The holds over each of the records now, in the order of the records; none is an empty list. One that has ended counts
   * on unless a verified governance event tells of its end. Of those that name a record, the newest 101.
   *
   * @param options.except a hold that is being released in this transaction
   */
  activeOver(tx: TenantTx, records: readonly HeldRecord[], options?: { except?: string }): Promise<HoldName[][]>
  /**
   * The holds over each of the records that the subject has released since it was written and so, where four eyes are
   * required, may not purge.
   *
   * @param fourEyes whether they are required now; if not, only those count that were released while they were
   */
  releasedBy(tx: TenantTx, subject: string, records: readonly HeldRecord[], fourEyes: boolean): Promise<HoldName[][]>
  /** The releases of governance events of which a verified event tells, ended ones too; no others count. */
  releasesOf(tx: TenantTx, recordIds: readonly string[]): Promise<ProvenRelease[]>
}
