import type { Static } from 'typebox'
import type { JsonValue } from '../../../../provenance/json.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type { QueuedRepricing, RepricingBody } from './prices-schemas.ts'

/** Selects events with from ≤ `ts` < to: UTC with six fractional digits, so that texts compare as times do. */
export interface RepricingRange {
  from: string
  to: string
}

/** The result of a repricing, in the names of the command's output and of the governance event. */
export interface RepricingResult {
  /** The number of events in the range. */
  checked: number
  /** The number of events whose calculated cost changed, appeared or disappeared. */
  changed: number
  /** Sums over the checked events; those without a price count as 0. */
  cost_usd_computed_before: number
  cost_usd_computed_after: number
}

/** One repricing, regardless of the number of its tries. */
export interface RepricingRequest {
  runId: string
  range: RepricingRange
  actor: Actor
  /** The cause of the request, for the governance event. */
  cause: Record<string, JsonValue>
}

/** Reprices stored events at the tenant's current prices. Records stay unchanged; rollups follow the latest rating. */
export interface TelemetryRepricing {
  /** Queues a repricing. Throws `validation-failed` for the times, `hub-unavailable`. */
  request(caller: Caller, times: Static<typeof RepricingBody>): Promise<Static<typeof QueuedRepricing>>
  /** Runs a repricing. Throws `validation-failed` for the times. */
  rate(
    tenant: Tenant,
    times: Static<typeof RepricingBody>,
    by: Pick<RepricingRequest, 'actor' | 'cause'>,
  ): Promise<RepricingResult>
}
