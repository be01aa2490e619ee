import type { TenantTx } from '../../db/database.ts'
import type { ProvenanceKeys } from '../keys/keys-types.ts'
import { findReleases } from './record-state-store.ts'
import { findLinks, findSeals } from './record-store.ts'
import { type Evidence, failedChecks, verifyStored } from './record-verification.ts'
import type { SealedRow } from './sealed-records-types.ts'
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
  const idsOf = (some: readonly SealedRow[]) => some.map((row) => row.record_id)
  const purgedEvents = rows.filter((row) => row.record_type === 'governance_event' && row.purged_at !== null)
  return {
    seals: await findSeals(tx, [...new Set(rows.map((row) => row.seal_id))]),
    links: await findLinks(tx, idsOf(rows)),
    releases: await findReleases(tx, idsOf(purgedEvents)),
  }
}
