import type { RecordFilter } from '../../../contract/record-filter.ts'
import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import type { HeldRecord } from '../../records/record-rows.ts'
import type { VerifiedEvent } from '../verification/verification-types.ts'

export type HoldRow = Omit<TenantTables['hub.legal_holds'], 'tenant_id' | 'filter'> & { filter: RecordFilter | null }

/** A release that permits purging a governance event. */
export type Release = Omit<TenantTables['hub.legal_hold_releases'], 'tenant_id'>

/** A release of a governance event that a verified event records. */
export type ProvenRelease = Release & {
  /** Whether four eyes were required when it was created. */
  fourEyes: boolean
}

/** The identity of a hold in errors. */
export type HoldName = Pick<HoldRow, 'hold_id' | 'name'>

/** The members of a hold that its placement sets. */
export type PlacedHold = Pick<HoldRow, 'name' | 'reason' | 'filter' | 'record_count' | 'created_at' | 'created_by'>

export interface PurgedRecord {
  record_id: string
  record_type: string
  purged_at: string
}

/** Checks legal holds for code that deletes or verifies records. */
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
  /** Returns at least the first 100 holds in force, regardless of their scope. */
  inForce(tx: TenantTx): Promise<HoldName[]>
  /**
   * Returns, for each record, the holds that the subject released since the record was written. With four eyes, the
   * subject may not purge such a record.
   *
   * @param fourEyes whether four eyes are required now; if not, only releases under four eyes count
   */
  releasedBy(tx: TenantTx, subject: string, records: readonly HeldRecord[], fourEyes: boolean): Promise<HoldName[][]>
  /** Returns the time of the tenant's latest hold release. */
  lastRelease(tx: TenantTx): Promise<string | null>
  /** Returns the releases of governance events that a verified event records, including ended ones. */
  releasesOf(tx: TenantTx, recordIds: readonly string[]): Promise<ProvenRelease[]>
  /**
   * Returns whether a purged record lacks the release that its type requires. A governance event requires a release
   * that was active at its purge; it stays purged when that release ends.
   *
   * @param releases proven releases, at least all of the record
   */
  lacksRelease(record: PurgedRecord, releases: readonly Release[]): boolean
  /** Returns the ids of purged records that lack a release. They must not be erased. */
  idsWithoutRelease(tx: TenantTx, records: readonly PurgedRecord[]): Promise<Set<string>>
  /**
   * Returns the ids of the records that were purged while a hold was in force or, for a governance event, without an
   * active release.
   */
  purgedUnderHold(tx: TenantTx, records: readonly (HeldRecord & PurgedRecord)[]): Promise<Set<string>>
}

/** Compares holds and releases with the governance events that record them. A row that somebody wrote has none. */
export interface HoldEvents {
  /**
   * Returns whether the event records the placement of exactly this hold.
   *
   * @param digest the digest of its stored record ids; undefined with a filter
   */
  matchesHold(
    event: VerifiedEvent | undefined,
    hold: PlacedHold & { hold_id: string; filter: unknown },
    digest: string | undefined,
  ): boolean
  /** Returns whether the event records the same release of this hold as its row. */
  matchesHoldRelease(
    event: VerifiedEvent | undefined,
    hold: Pick<HoldRow, 'hold_id' | 'released_at'> & Partial<Pick<HoldRow, 'released_by' | 'release_reason'>>,
  ): boolean
  /** Returns whether the event records exactly this release of a governance event. */
  matchesPurgeRelease(event: VerifiedEvent | undefined, release: Release): boolean
}
