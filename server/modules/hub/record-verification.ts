import type { ProvenanceKeys } from '../keys/keys-types.ts'
import { lacksRelease } from './holds/release-rule.ts'
import type { Release } from './record-state-store.ts'
import type { SealedRow } from './sealed-records-types.ts'
import type { VerificationPool } from './verification-pool.ts'
import { passed, type TaskEvidence, taskOf } from './verification-task.ts'
import type { Verification, VerificationSummary } from './verification-types.ts'

/** What is stored about records apart from their own rows, as far as verification compares it. */
export interface Evidence extends TaskEvidence {
  /** Releases of the purged governance events among the records. */
  releases: readonly Release[]
}

/** Verifies stored records (see `checkRecords`). Throws `hub-unavailable` when there is too much to verify already. */
export async function verifyStored(
  tenantId: string,
  records: readonly SealedRow[],
  evidence: Evidence,
  deps: { keys: ProvenanceKeys; pool: VerificationPool },
): Promise<Verification[]> {
  const keyIds = [...new Set(evidence.seals.map((seal) => seal.key_id))]
  const keys = await deps.keys.publicKeysOf(tenantId, keyIds)
  const results = await deps.pool.check(taskOf(records, evidence, keys))
  return records.map((record, at) => {
    const result = results[at]!
    const checks = {
      provenance_hash_matches: (result & passed.hash) !== 0,
      provenance_cosign_valid: (result & passed.cosign) !== 0,
      schema_version_supported: (result & passed.schemaVersion) !== 0,
      no_active_legal_hold_violation: !wasPurgedUnderHold(record, evidence.releases),
    }
    return { verified: Object.values(checks).every(Boolean), checks }
  })
}

/** A record can be both tampered with and badly cosigned; an unsupported schema version alone is neither. */
export function summaryOf(verifications: readonly Verification[]): VerificationSummary {
  const count = (test: (verification: Verification) => boolean) => verifications.filter(test).length
  return {
    checked: verifications.length,
    verified: count(({ verified }) => verified),
    tampered: count(({ checks }) => !checks.provenance_hash_matches || !checks.no_active_legal_hold_violation),
    cosign_invalid: count(({ checks }) => !checks.provenance_cosign_valid),
  }
}

/** Names of the checks that failed. */
export function failedChecks(verification: Verification): string[] {
  return Object.entries(verification.checks).flatMap(([check, passed]) => (passed ? [] : [check]))
}

/** A governance event stays unless a release for it was active when it was purged. */
function wasPurgedUnderHold(row: SealedRow, releases: readonly Release[]): boolean {
  return row.purged_at !== null && lacksRelease({ ...row, purged_at: row.purged_at }, releases)
}
