import type { Caller, Tenant } from '../../../http/caller.ts'

/**
 * A price of a tenant's own, in the names of the API. Prices are US dollars per million tokens; times have six digits
 * and `Z`.
 */
export interface PriceOverride {
  /** Without it, for the model on every platform that has none of its own at the time. */
  llm_platform?: string
  llm_model: string
  input_usd_per_mtok: number
  output_usd_per_mtok: number
  effective_from: string
  /** It ends here, or where the next one of the same platform and model begins, whichever is first. */
  effective_until?: string
}

export interface PriceList {
  prices: PriceOverride[]
  /** False if the list is not the one that its signed event has: nothing is priced then. */
  verified?: boolean
  /** Prices of everything else. */
  catalogue: { source: string; version: string }
}

export interface Prices {
  get(tenant: Tenant): Promise<PriceList>
  /**
   * Replaces the tenant's own prices by the body, which may be anything, and answers what is stored. Repeating it
   * changes nothing and writes no event. Throws `validation-failed` with a pointer to each thing that is wrong.
   */
  replace(caller: Caller, body: unknown): Promise<PriceList>
}
