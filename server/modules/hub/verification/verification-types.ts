import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { SealedRow } from '../../../records/record-rows.ts'

/** The result of a verification (interface 2.4). */
export interface Verification {
  verified: boolean
  checks: {
    provenance_hash_matches: boolean
    provenance_cosign_valid: boolean
    schema_version_supported: boolean
    no_active_legal_hold_violation: boolean
  }
  /**
   * Present if the content was destroyed with its key. Hash and cosignature are then checked against the seal alone.
   */
  content?: 'unavailable'
}

/** The counts of a verified page (interface 2.5). */
export interface VerificationSummary {
  checked: number
  verified: number
  tampered: number
  cosign_invalid: number
}

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
