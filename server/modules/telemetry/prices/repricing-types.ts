import type { JsonValue } from '../../../../provenance/json.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'

/** Events with from ≤ `ts` < to: UTC with six digits, so that texts compare as times do. */
export interface RepricingRange {
  from: string
  to: string
}

/** What a re-rating came to, in the names of the command's output and of the governance event. */
export interface RepricingResult {
  /** Events in the range. */
  checked: number
  /** Those whose computed cost is another one now, or is there or not. */
  changed: number
  /** Sums over the checked events, unpriced ones as nothing. */
  cost_usd_computed_before: number
  cost_usd_computed_after: number
}

/** One re-rating, however often it is tried. */
export interface RepricingRequest {
  runId: string
  range: RepricingRange
  actor: Actor
  /** What asked for it, for the governance event. */
  cause: Record<string, JsonValue>
}

/**
 * Rates stored events again at the tenant's prices of now. Records stay as they are; the numbers follow the last
 * rating.
 */
export interface TelemetryRepricing {
  /** Has it done in the background. Throws `validation-failed` for the times, `hub-unavailable`. */
  request(caller: Caller, times: { from: string; to?: string }): Promise<{ job_id: string; status: 'queued' }>
  /** Does it. Throws `validation-failed` for the times. */
  rate(
    tenant: Tenant,
    times: { from: string; to?: string },
    by: Pick<RepricingRequest, 'actor' | 'cause'>,
  ): Promise<RepricingResult>
}
