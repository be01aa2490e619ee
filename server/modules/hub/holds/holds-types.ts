import type { FilteredRecord } from '../../../../contract/record-filter.ts'
import type { TenantTx } from '../../../db/database.ts'

/** A record as holds look at it. */
export interface HeldRecord extends FilteredRecord {
  /** RFC 3339, UTC, six fractional digits; the same in the canonical text and in the id. */
  created_at: string
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
  /** The holds over each of the records now, in the order of the records; none is an empty list. Of those that name a
   * record, the newest 101. */
  activeOver(tx: TenantTx, records: readonly HeldRecord[]): Promise<HoldName[][]>
}
