import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { SealedRow } from './sealed-records-types.ts'

/** Interface 2.4. */
export interface Verification {
  verified: boolean
  checks: {
    provenance_hash_matches: boolean
    provenance_cosign_valid: boolean
    schema_version_supported: boolean
    no_active_legal_hold_violation: boolean
  }
  /** Where the content is gone with its key: then hash and cosignature are checked against the seal alone. */
  content?: 'unavailable'
}

/** Interface 2.5. */
export interface VerificationSummary {
  checked: number
  verified: number
  tampered: number
  cosign_invalid: number
}

/** Verification of stored records, as other modules see it. */
export interface StoredVerification {
  /**
   * Reads, in the transaction, what the records are compared with, and answers what verifies them once the transaction
   * is over: in the order of the records, with everything that a verifying read checks. What fails is reported.
   *
   * The check throws `hub-unavailable` when there is too much to verify already.
   */
  prepare(tx: TenantTx, tenant: Tenant, records: readonly SealedRow[]): Promise<() => Promise<Verification[]>>
}
