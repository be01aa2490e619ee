import type { ProvenanceKeys } from '../../keys/keys-types.ts'
import type { VerificationPool } from '../verification/verification-pool.ts'
import { createVerifiedEvents, type VerifiedEvents } from '../verification/verified-events.ts'
import { createHoldCheck } from './hold-check.ts'
import { createHoldReleaseVerifier, type HoldReleaseVerifier } from './hold-release-verifier.ts'
import type { HoldCheck } from './holds-types.ts'

/** Creates the services that decide about holds. They share one cache of verified events. */
export function createHoldEvidence(deps: { keys: ProvenanceKeys; pool: VerificationPool }): {
  verifiedEvents: VerifiedEvents
  ends: HoldReleaseVerifier
  holds: HoldCheck
} {
  const verifiedEvents = createVerifiedEvents(deps)
  const ends = createHoldReleaseVerifier(verifiedEvents)
  return { verifiedEvents, ends, holds: createHoldCheck({ verifiedEvents, ends }) }
}
