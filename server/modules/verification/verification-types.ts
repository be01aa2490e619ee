import type { Static } from 'typebox'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { DestroyedKey, TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { SealedRow } from '../../records/record-rows.ts'
import type { VerificationSchema, VerificationSummarySchema } from '../../records/record-schemas.ts'

/** The result of a verification (interface 2.4). */
export type Verification = Static<typeof VerificationSchema>

/** The counts of a verified page (interface 2.5). */
export type VerificationSummary = Static<typeof VerificationSummarySchema>

/** Provides verification of stored records to other modules. */
export interface StoredVerification {
  /**
   * Reads, in the transaction, the data that records are compared with. Returns a function that verifies them after the
   * transaction, in the order of the records, with all checks of a verifying read. Failures are reported.
   *
   * The function throws `hub-unavailable` if too much verification is pending.
   */
  prepare(tx: TenantTx, tenant: Tenant, records: readonly SealedRow[]): Promise<() => Promise<Verification[]>>
}

/** A governance event of the service, parsed from a verified text. */
export interface VerifiedEvent {
  eventId: string
  kind: string
  subject: string
  details: JsonObject
}

/**
 * Finds the service's own governance events that verify. Access to the database alone does not suffice to forge them.
 */
export interface VerifiedEvents {
  /**
   * Returns the events among the ids that exist and verify. Caches verified events, because they never change.
   *
   * @throws DomainError `hub-unavailable` if too much verification is pending
   */
  find(tx: TenantTx, eventIds: readonly (string | null)[]): Promise<ReadonlyMap<string, VerifiedEvent>>
}

/**
 * Holds the keys of records whose content was destroyed, by record id, and the verified events that record the
 * destructions.
 */
export interface ErasedContents {
  keys: ReadonlyMap<string, DestroyedKey>
  events: ReadonlyMap<string, VerifiedEvent>
}

/** Proves that the service destroyed unreadable texts. */
export interface ErasedContentCheck {
  find(tx: TenantTx, records: readonly SealedRow[]): Promise<ErasedContents>
  /**
   * Returns whether the service destroyed the unreadable text of a record. A verified event must record the destruction
   * of its key, the remaining salt and hash must be the sealed ones, and the salt must belong to a text under that key.
   * So a destroyed key explains neither unreadable events of the service nor records under another key, regardless of
   * their columns.
   *
   * @param leaf the leaf of the record in its seal; undefined if the seal cannot be read
   */
  isProven(tenantId: string, record: SealedRow, erased: ErasedContents, leaf: Uint8Array | undefined): boolean
}

/** A failed verification of a record, or, with a subject, another inconsistency of stored data. */
export type TamperFinding =
  | { recordId: string; failedChecks: readonly string[] }
  | (NamedFinding & { found: Record<string, JsonValue> })

export interface NamedFinding {
  /** `record:<id>`, `seal:<id>`, `log:<name>`, `user:<id>` and others; docs/attacks.md lists them. */
  subject: string
  /** Names of the checks that failed. */
  failedChecks: readonly string[]
  found?: Record<string, JsonValue>
  /** The part of the service that found it. */
  service: string
}

/** Reports failed verifications as governance events. */
export interface TamperReporter {
  /**
   * Queues reports and returns at once, so that the read that found them does not wait. Findings beyond the limit in
   * memory are dropped; the next read that finds them reports them.
   */
  report(tenant: Tenant, findings: readonly TamperFinding[]): void
  /** Resolves when all queued reports have ended. */
  settled(): Promise<void>
  /** Deletes claims that are more than two days old. Returns whether there may be more. The reports remain. */
  deleteOldClaims(tx: TenantTx): Promise<boolean>
}
