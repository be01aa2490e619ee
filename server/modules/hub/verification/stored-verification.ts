import { failedChecks } from './record-verification.ts'
import type { RecordVerifier } from './record-verifier.ts'
import type { TamperReporter } from './tamper-reporter.ts'
import type { StoredVerification } from './verification-types.ts'

export function createStoredVerification(deps: {
  check: RecordVerifier
  tampering: Pick<TamperReporter, 'report'>
}): StoredVerification {
  return {
    async prepare(tx, tenant, records) {
      const check = await deps.check(tx, tenant, records)
      return async () => {
        const verifications = await check()
        // Reports after the response.
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
