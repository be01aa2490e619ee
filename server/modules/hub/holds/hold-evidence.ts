import type { ProvenanceKeys } from '../../keys/keys-types.ts'
import type { VerificationPool } from '../verification-pool.ts'
import { createToldEvents, type ToldEvents } from '../verified-events.ts'
import { createHoldCheck } from './hold-check.ts'
import { createHoldEnds, type HoldEnds } from './hold-release-verifier.ts'
import type { HoldCheck } from './holds-types.ts'

/** What decides about holds, over one memory of the events that it goes by. */
export function createHoldEvidence(deps: { keys: ProvenanceKeys; pool: VerificationPool }): {
  told: ToldEvents
  ends: HoldEnds
  holds: HoldCheck
} {
  const told = createToldEvents(deps)
  const ends = createHoldEnds(told)
  return { told, ends, holds: createHoldCheck({ told, ends }) }
}
