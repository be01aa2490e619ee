import type { Caller, Tenant } from '../../../http/caller.ts'

/**
 * A price of the tenant's own, in the names of the API. Prices are US dollars per million tokens; times have six
 * fractional digits and `Z`.
 */
export interface PriceOverride {
  /** The platform. If absent, the price applies on every platform without one of its own at the time. */
  llm_platform?: string
  llm_model: string
  input_usd_per_mtok: number
  output_usd_per_mtok: number
  effective_from: string
  /** The end of the price; it ends earlier if the next price of the same platform and model begins. */
  effective_until?: string
}

export interface PriceList {
  prices: PriceOverride[]
  /** False if the list differs from that of its signed event; nothing is then priced. */
  verified?: boolean
  /** The catalogue that prices everything else. */
  catalogue: { source: string; version: string }
}

export interface Prices {
  get(tenant: Tenant): Promise<PriceList>
  /**
   * Replaces the tenant's own prices by an unchecked body, and returns the stored list. Repeating it changes nothing
   * and writes no event. Throws `validation-failed` with a pointer to each fault.
   */
  replace(caller: Caller, body: unknown): Promise<PriceList>
}
