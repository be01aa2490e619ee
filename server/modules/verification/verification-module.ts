import type { ModuleParts } from '../../module-parts.ts'
import type { HoldCheck } from '../legal-holds/holds-types.ts'
import { createErasedContentCheck } from './erased-content-check.ts'
import type { VerificationPool } from './provenance-check-pool.ts'
import { createRecordVerifier, createStoredVerification } from './record-verifier.ts'
import { createTamperReporter } from './tamper-reporter.ts'
import type { NamedFinding, TamperFinding, VerifiedEvents } from './verification-types.ts'

/** Creates the verification of stored records, and the reports of what fails. */
export function createVerificationModule(
  deps: Pick<ModuleParts, 'database' | 'keys' | 'governance' | 'directory' | 'log'> & {
    pool: VerificationPool
    verifiedEvents: VerifiedEvents
    holds: HoldCheck
  },
) {
  const { directory, log } = deps
  const erasedContents = createErasedContentCheck(deps.verifiedEvents)
  const check = createRecordVerifier({ ...deps, erasedContents })
  const tampering = createTamperReporter({ ...deps, check })
  return {
    verification: createStoredVerification({ check, tampering }),
    erasedContents,
    tampering,
    /** Reports a finding about a tenant, and returns at once. The next read, or the sweeper, finds it again. */
    reportFor(slug: string, finding: TamperFinding & NamedFinding): void {
      directory.find(slug, { evenSuspended: true }).then(
        (tenant) => tenant && tampering.report(tenant, [finding]),
        (err: unknown) => log.error({ err, tenant: slug, subject: finding.subject }, 'tampering could not be reported'),
      )
    },
  }
}
