import type { TenantTx } from '../../db/database.ts'
import type { ProvenanceKeys } from '../keys/keys-types.ts'
import { findLinks, findSeals } from './record-store.ts'
import { type Evidence, failedChecks, verifyStored } from './record-verification.ts'
import type { SealedRow } from './sealed-records-types.ts'
import { gatherStates } from './state-evidence.ts'
import type { TamperReporter } from './tamper-reporter.ts'
import type { VerificationPool } from './verification-pool.ts'
import type { StoredVerification } from './verification-types.ts'

export function createStoredVerification(deps: {
  keys: ProvenanceKeys
  pool: VerificationPool
  tampering: TamperReporter
}): StoredVerification {
  return {
    async prepare(tx, tenant, records) {
      const evidence = await gather(tx, records)
      return async () => {
        const verifications = await verifyStored(tenant.slug, records, evidence, deps)
        // After the answer.
        deps.tampering.report(
          tenant,
          verifications.flatMap((verification, at) =>
            verification.verified
              ? []
              : [{ recordId: records[at]!.record_id, failedChecks: failedChecks(verification) }],
          ),
        )
        return verifications
      }
    },
  }
}

/** What verification compares besides the records' own rows. */
async function gather(tx: TenantTx, rows: readonly SealedRow[]): Promise<Evidence> {
  const states = await gatherStates(tx, rows)
  const all = [...rows, ...states.events.values()]
  return {
    seals: await findSeals(tx, [...new Set(all.map((row) => row.seal_id))]),
    links: await findLinks(tx, [...new Set(all.map((row) => row.record_id))]),
    states,
  }
}
