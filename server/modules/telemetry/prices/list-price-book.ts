import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { type ConditionalPrice, calcPrice, type ModelInfo, type ModelPrice } from '@pydantic/genai-prices'
import { LRUCache } from 'lru-cache'

/** The cost of an event's tokens by the service's own prices. */
interface PricedTokens {
  costMicros: number
  /** The source of the prices: catalogue and version, provider, model; or a price of the tenant's own. */
  source: string
}

/**
 * The reason for a missing price: the model has none at all, none at the time, or none for a used kind of token. For
 * `prices_not_verified`, the tenant's own list differs from that of its signed event.
 */
type NoPrice = 'unknown_model' | 'no_price_at_ts' | 'no_price_for_tokens' | 'prices_not_verified'

export interface PriceBook {
  /**
   * Returns tokens_in × price_in + tokens_out × price_out at the prices of the time, in micro-dollars, rounded half up
   * (interface 2.3; decisions section 4). Returns undefined without a price; {@link explain} returns the reason.
   * `epochMs` may have a fraction (see {@link exactMs}).
   */
  priceOf(
    platform: string,
    model: string,
    epochMs: number,
    tokensIn: number,
    tokensOut: number,
  ): PricedTokens | undefined
  /** Returns why `priceOf` returns undefined for the same arguments, or undefined if it does not. */
  explain(platform: string, model: string, epochMs: number, tokensIn: number, tokensOut: number): NoPrice | undefined
}

/**
 * Platforms of one model vendor. A model without a price of the vendor, and other platforms, are looked up by the model
 * alone.
 */
const providers: Readonly<Record<string, string>> = { claude: 'anthropic', chatgpt: 'openai', gemini: 'google' }

const catalogueSource = '@pydantic/genai-prices'

/** Bounds the cached models, because events name them. */
const modelsMax = 10_000
const dayMs = 86_400_000

/** The prices of one model in one period, as whole multiples of 1/`unitsPerUsd` dollars per million tokens. */
interface Era {
  holds(epochMs: number): boolean
  unitsPerUsd: bigint
  input: Tier[]
  output: Tier[]
}

/** The price of all tokens of a request with more than `startTokens` of input. */
interface Tier {
  startTokens: number
  units: bigint
}

interface PricedModel {
  source: string
  /** The eras; the last one that holds applies. */
  eras: Era[]
}

/**
 * Creates the price book of the catalogue in the package: nothing is fetched. `lookUp` finds a model in another
 * catalogue.
 */
export function createPriceBook(lookUp: typeof calcPrice = calcPrice): PriceBook {
  const { version } = priceCatalogue()
  const models = new LRUCache<string, PricedModel | 'unpriced'>({ max: modelsMax })

  function find(platform: string, model: string): PricedModel | 'unpriced' {
    const providerId = Object.hasOwn(providers, platform) ? providers[platform] : undefined
    const found = (providerId && lookUp({}, model, { providerId })) || lookUp({}, model)
    if (!found) return 'unpriced'
    return { source: `genai-prices/${version}:${found.provider.id}/${found.model.id}`, eras: erasOf(found.model) }
  }

  function pricedModel(platform: string, model: string): PricedModel | 'unpriced' {
    const key = `${platform} ${model}`
    let priced = models.get(key)
    if (priced === undefined) {
      priced = find(platform, model)
      models.set(key, priced)
    }
    return priced
  }

  return {
    priceOf(platform, model, epochMs, tokensIn, tokensOut) {
      const priced = pricedModel(platform, model)
      if (priced === 'unpriced') return undefined
      const era = eraAt(priced, epochMs)
      const costMicros = era && costInEra(era, tokensIn, tokensOut)
      return costMicros === undefined ? undefined : { costMicros, source: priced.source }
    },

    explain(platform, model, epochMs, tokensIn, tokensOut) {
      const priced = pricedModel(platform, model)
      if (priced === 'unpriced') return 'unknown_model'
      const era = eraAt(priced, epochMs)
      if (!era) return 'no_price_at_ts'
      return costInEra(era, tokensIn, tokensOut) === undefined ? 'no_price_for_tokens' : undefined
    },
  }
}

function eraAt(priced: PricedModel, epochMs: number): Era | undefined {
  return priced.eras.findLast((one) => one.holds(epochMs))
}

function costInEra(era: Era, tokensIn: number, tokensOut: number): number | undefined {
  const input = unitsOf(era.input, tokensIn)
  const output = unitsOf(era.output, tokensIn)
  if ((input === undefined && tokensIn > 0) || (output === undefined && tokensOut > 0)) return undefined
  return costMicrosOf(era.unitsPerUsd, input ?? 0n, tokensIn, output ?? 0n, tokensOut)
}

function unitsOf(tiers: readonly Tier[], tokensIn: number): bigint | undefined {
  return tiers.findLast((tier) => tokensIn > tier.startTokens)?.units
}

function erasOf(model: ModelInfo): Era[] {
  const list: ConditionalPrice[] = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }]
  return list.map((entry) => eraOf(entry.prices, timeTest(entry.constraint)))
}

function eraOf(prices: ModelPrice, holds: Era['holds']): Era {
  const tiers = { input: tierPrices(prices.input_mtok), output: tierPrices(prices.output_mtok) }
  const decimals = Math.max(0, ...[...tiers.input, ...tiers.output].map((tier) => decimalOf(tier.usd).decimals))
  const scaled = (tier: { startTokens: number; usd: number }): Tier => {
    const price = decimalOf(tier.usd)
    return { startTokens: tier.startTokens, units: price.digits * 10n ** BigInt(decimals - price.decimals) }
  }
  return {
    holds,
    unitsPerUsd: 10n ** BigInt(decimals),
    input: tiers.input.map(scaled),
    output: tiers.output.map(scaled),
  }
}

function tierPrices(price: ModelPrice[string]): { startTokens: number; usd: number }[] {
  if (price === undefined) return []
  if (typeof price === 'number') return [{ startTokens: -1, usd: price }]
  const further = price.tiers.map((tier) => ({ startTokens: tier.start, usd: tier.price }))
  return [{ startTokens: -1, usd: price.base }, ...further.sort((a, b) => a.startTokens - b.startTokens)]
}

/**
 * Returns the test of a time. Prices without a date hold always; dated ones from midnight UTC, or at some hours of each
 * day.
 */
function timeTest(constraint: ConditionalPrice['constraint']): Era['holds'] {
  if (constraint === undefined) return () => true
  if (constraint.type === 'start_date') {
    const startMs = Date.parse(constraint.start_date)
    return (epochMs) => epochMs >= startMs
  }
  const startMs = timeOfDayMs(Date.parse(`1970-01-01T${constraint.start_time}`))
  const endMs = timeOfDayMs(Date.parse(`1970-01-01T${constraint.end_time}`))
  return (epochMs) => {
    const atMs = timeOfDayMs(epochMs)
    return endMs < startMs ? atMs >= startMs || atMs < endMs : atMs >= startMs && atMs < endMs
  }
}

function timeOfDayMs(epochMs: number): number {
  return ((epochMs % dayMs) + dayMs) % dayMs
}

/** Returns the catalogue of prices for which a tenant has none of its own. */
export function priceCatalogue(): { source: string; version: string } {
  const path = findPackageJSON(catalogueSource, import.meta.url)
  if (path === undefined) throw new Error(`the package ${catalogueSource} has no package.json`)
  const manifest: { version: string } = JSON.parse(readFileSync(path, 'utf8'))
  return { source: catalogueSource, version: manifest.version }
}

/** An exact decimal number: `digits` / 10^`decimals`. */
interface Decimal {
  digits: bigint
  decimals: number
}

/**
 * Returns the shortest decimal that reads back as the number, which is the caller's spelling: 0.075 is 75 with three
 * decimals.
 */
export function decimalOf(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const decimals = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return decimals >= 0 ? { digits, decimals } : { digits: digits * 10n ** BigInt(-decimals), decimals: 0 }
}

/**
 * Returns micro-dollars, rounded half up. Prices are whole multiples of 1/`unitsPerUsd` dollars per million tokens.
 * Dollars per million tokens are micro-dollars per token, so the sum is in micro-dollars.
 */
export function costMicrosOf(
  unitsPerUsd: bigint,
  inputUnits: bigint,
  tokensIn: number,
  outputUnits: bigint,
  tokensOut: number,
): number {
  const units = BigInt(tokensIn) * inputUnits + BigInt(tokensOut) * outputUnits
  return Number((2n * units + unitsPerUsd) / (2n * unitsPerUsd))
}
