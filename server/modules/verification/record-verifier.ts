import type { TenantTx } from '../../db/database.ts'
import type { SealedRow } from '../../records/record-rows.ts'
import { findLinks, findSeals } from '../../records/record-store.ts'
import type { ProvenanceKeys } from '../keys/keys-types.ts'
import type { HoldCheck } from '../legal-holds/holds-types.ts'
import { passed, passedAll, taskOf } from './provenance-check.ts'
import type { VerificationPool } from './provenance-check-pool.ts'
import { loadStateEvidence, stateAgrees } from './state-check.ts'
import type { ErasedContentCheck, StoredVerification, TamperReporter, Verification } from './verification-types.ts'

/** Same as {@link StoredVerification.prepare}, without reporting failures. */
export type RecordVerifier = StoredVerification['prepare']

/** Creates the verifier of stored records: provenance, state and legal holds. */
export function createRecordVerifier(deps: {
  keys: Pick<ProvenanceKeys, 'publicKeysOf'>
  pool: VerificationPool
  holds: HoldCheck
  erasedContents: ErasedContentCheck
}): RecordVerifier {
  const { keys, pool, holds, erasedContents } = deps

  /** Reads the data, besides the records' own rows, that verification compares. */
  async function gather(tx: TenantTx, rows: readonly SealedRow[]) {
    const states = await loadStateEvidence(tx, rows, holds)
    const all = [...rows, ...states.events.values()]
    return {
      seals: await findSeals(tx, [...new Set(all.map((row) => row.seal_id))]),
      links: await findLinks(tx, [...new Set(all.map((row) => row.record_id))]),
      states,
      erased: await erasedContents.find(tx, rows),
    }
  }

  async function verify(
    tenantId: string,
    records: readonly SealedRow[],
    evidence: Awaited<ReturnType<typeof gather>>,
  ): Promise<Verification[]> {
    const { seals, states, erased } = evidence
    const publicKeys = await keys.publicKeysOf(tenantId, [...new Set(seals.map((seal) => seal.key_id))])
    const events = [...states.events.values()]
    const results = await pool.check(taskOf([...records, ...events], evidence, publicKeys))
    const soundEvents = new Set(events.filter((_, at) => results[records.length + at] === passedAll))
    return records.map((record, at) => {
      const result = results[at]!
      const isStateSound = stateAgrees(record, states, (event) => soundEvents.has(event))
      const isCosigned = (result & passed.cosign) !== 0
      // Without the text, the stored hash is compared with the sealed leaf; the cosignature check has done that.
      const isGone = erased.keys.has(record.record_id)
      const isGoneProven = isGone && isCosigned && erasedContents.isProven(tenantId, record, erased, undefined)
      const checks = {
        provenance_hash_matches: ((result & passed.hash) !== 0 || isGoneProven) && isStateSound,
        provenance_cosign_valid: isCosigned,
        schema_version_supported: (result & passed.schemaVersion) !== 0 || isGoneProven,
        no_active_legal_hold_violation: !states.purgedUnderHold.has(record.record_id),
      }
      const verified = Object.values(checks).every(Boolean)
      return { verified, checks, ...(isGone && { content: 'unavailable' as const }) }
    })
  }

  return async (tx, tenant, records) => {
    const evidence = await gather(tx, records)
    return () => verify(tenant.slug, records, evidence)
  }
}

/** Creates the verification for readers. It reports failures after the response. */
export function createStoredVerification(deps: {
  check: RecordVerifier
  tampering: Pick<TamperReporter, 'report'>
}): StoredVerification {
  return {
    async prepare(tx, tenant, records) {
      const check = await deps.check(tx, tenant, records)
      return async () => {
        const verifications = await check()
        deps.tampering.report(
          tenant,
          verifications.flatMap(({ verified, checks }, at) =>
            verified ? [] : [{ recordId: records[at]!.record_id, failedChecks: failedChecks(checks) }],
          ),
        )
        return verifications
      }
    },
  }
}

function failedChecks(checks: Verification['checks']): string[] {
  return Object.entries(checks).flatMap(([check, passed]) => (passed ? [] : [check]))
}
