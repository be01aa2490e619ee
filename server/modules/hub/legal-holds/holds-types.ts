import type { TenantTx } from '../../../db/database.ts'
import type { HeldRecord } from '../../../records/record-rows.ts'
import type { Release } from './releases-store.ts'

/** A release of a governance event that a verified event records. */
export type ProvenRelease = Release & {
  /** Whether four eyes were required when it was created. */
  fourEyes: boolean
}

/** The identity of a hold in errors. */
export interface HoldName {
  hold_id: string
  name: string
}

/** Checks legal holds for code that deletes records. */
export interface HoldCheck {
  /**
   * Blocks placing and releasing holds until the transaction ends; other checks may run concurrently. Must be called
   * before the work that it protects.
   */
  lock(tx: TenantTx): Promise<void>
  /**
   * Returns the holds over each record now, in the order of the records; an empty list for none. A released hold counts
   * unless a verified governance event records its release. Of the holds that name a record, only the newest 101 are
   * returned.
   *
   * @param options.except a hold that this transaction releases
   */
  activeOver(tx: TenantTx, records: readonly HeldRecord[], options?: { except?: string }): Promise<HoldName[][]>
  /**
   * Returns, for each record, the holds that the subject released since the record was written. With four eyes, the
   * subject may not purge such a record.
   *
   * @param fourEyes whether four eyes are required now; if not, only releases under four eyes count
   */
  releasedBy(tx: TenantTx, subject: string, records: readonly HeldRecord[], fourEyes: boolean): Promise<HoldName[][]>
  /** Returns the releases of governance events that a verified event records, including ended ones. */
  releasesOf(tx: TenantTx, recordIds: readonly string[]): Promise<ProvenRelease[]>
}
