import type { SealedRow } from '../../../records/record-rows.ts'
import type { ProvenanceKeys } from '../../keys/keys-types.ts'
import { checkErasedContent, type ErasedContents } from './erased-content.ts'
import type { StateEvidence } from './record-state-evidence.ts'
import { stateAgrees, wasPurgedUnderHold } from './record-state-verifier.ts'
import type { VerificationPool } from './verification-pool.ts'
import { passed, type TaskEvidence, taskOf } from './verification-task.ts'
import type { Verification, VerificationSummary } from './verification-types.ts'

/** The stored data, besides the records' own rows, that verification compares. */
export interface Evidence extends TaskEvidence {
  /** The states of the records. `seals` and `links` include those of the events in it. */
  states: StateEvidence
  /** Records whose content was destroyed with its key. */
  erased: ErasedContents
}

/** Verifies stored records (see `checkRecords`). Throws `hub-unavailable` if too much verification is pending. */
export async function verifyStored(
  tenantId: string,
  records: readonly SealedRow[],
  evidence: Evidence,
  deps: { keys: ProvenanceKeys; pool: VerificationPool },
): Promise<Verification[]> {
  const keyIds = [...new Set(evidence.seals.map((seal) => seal.key_id))]
  const keys = await deps.keys.publicKeysOf(tenantId, keyIds)
  const { states, erased } = evidence
  const events = [...states.events.values()]
  const results = await deps.pool.check(taskOf([...records, ...events], evidence, keys))
  const soundEvents = new Set(events.filter((_, at) => results[records.length + at] === passedAll))
  return records.map((record, at) => {
    const result = results[at]!
    const isStateSound = stateAgrees(record, states, (event) => soundEvents.has(event))
    const isCosigned = (result & passed.cosign) !== 0
    // Without the text, the stored hash is compared with the sealed leaf; the cosignature check has done that.
    const isGone = erased.keys.has(record.record_id)
    const isGoneProven = isGone && isCosigned && checkErasedContent(tenantId, record, erased, undefined).length === 0
    const checks = {
      provenance_hash_matches: ((result & passed.hash) !== 0 || isGoneProven) && isStateSound,
      provenance_cosign_valid: isCosigned,
      schema_version_supported: (result & passed.schemaVersion) !== 0 || isGoneProven,
      no_active_legal_hold_violation: !wasPurgedUnderHold(record, states),
    }
    const verified = Object.values(checks).every(Boolean)
    return { verified, checks, ...(isGone && { content: 'unavailable' as const }) }
  })
}

const passedAll = passed.hash | passed.cosign | passed.schemaVersion

/**
 * Counts the results. A record can be both tampered with and badly cosigned; an unsupported schema version alone is
 * neither.
 */
export function summaryOf(verifications: readonly Verification[]): VerificationSummary {
  const count = (test: (verification: Verification) => boolean) => verifications.filter(test).length
  return {
    checked: verifications.length,
    verified: count(({ verified }) => verified),
    tampered: count(({ checks }) => !checks.provenance_hash_matches || !checks.no_active_legal_hold_violation),
    cosign_invalid: count(({ checks }) => !checks.provenance_cosign_valid),
  }
}

/** Returns the names of the failed checks. */
export function failedChecks(verification: Verification): string[] {
  return Object.entries(verification.checks).flatMap(([check, passed]) => (passed ? [] : [check]))
}
