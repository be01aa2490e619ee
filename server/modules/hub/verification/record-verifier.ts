import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { SealedRow } from '../../../records/record-rows.ts'
import { findLinks, findSeals } from '../../../records/record-store.ts'
import type { ProvenanceKeys } from '../../keys/keys-types.ts'
import { createHoldEvidence } from '../legal-holds/hold-evidence.ts'
import { findErasedContents } from './erased-content.ts'
import { type HoldEvidence, loadStateEvidence } from './record-state-evidence.ts'
import { type Evidence, verifyStored } from './record-verification.ts'
import type { VerificationPool } from './verification-pool.ts'
import type { Verification } from './verification-types.ts'
import type { VerifiedEvents } from './verified-events.ts'

/** Same as {@link StoredVerification.prepare}, without reporting failures. */
export type RecordVerifier = (
  tx: TenantTx,
  tenant: Tenant,
  records: readonly SealedRow[],
) => Promise<() => Promise<Verification[]>>

export function createRecordVerifier(deps: {
  keys: ProvenanceKeys
  pool: VerificationPool
  holdEvidence?: HoldEvidence & { verifiedEvents: VerifiedEvents }
}): RecordVerifier {
  const { holdEvidence = createHoldEvidence(deps) } = deps
  return async (tx, tenant, records) => {
    const evidence = await gather(tx, records, holdEvidence)
    return () => verifyStored(tenant.slug, records, evidence, deps)
  }
}

/** Loads the data, besides the records' own rows, that verification compares. */
async function gather(
  tx: TenantTx,
  rows: readonly SealedRow[],
  holdEvidence: HoldEvidence & { verifiedEvents: VerifiedEvents },
): Promise<Evidence> {
  const states = await loadStateEvidence(tx, rows, holdEvidence)
  const all = [...rows, ...states.events.values()]
  return {
    seals: await findSeals(tx, [...new Set(all.map((row) => row.seal_id))]),
    links: await findLinks(tx, [...new Set(all.map((row) => row.record_id))]),
    states,
    erased: await findErasedContents(tx, rows, holdEvidence.verifiedEvents),
  }
}
