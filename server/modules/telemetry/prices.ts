import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { type ConditionalPrice, calcPrice, type ModelInfo, type ModelPrice } from '@pydantic/genai-prices'
import { LRUCache } from 'lru-cache'

/** What the tokens of an event cost by the service's own prices. */
interface PricedTokens {
  costMicros: number
  /** Where the prices are from: catalogue and version, provider, model. */
  source: string
}

export interface PriceBook {
  /**
   * tokens_in × price_in + tokens_out × price_out at the prices of the time, in micro-dollars, rounded half up
   * (interface 2.3; decisions section 4). Undefined when there is no price for the model, for a kind of token that
   * was used, or for the time.
   */
  priceOf(
    platform: string,
    model: string,
    epochMs: number,
    tokensIn: number,
    tokensOut: number,
  ): PricedTokens | undefined
}

/** Platforms of one model vendor. A model the vendor has no price for, and other platforms, go by the model alone. */
const providers: Readonly<Record<string, string>> = { claude: 'anthropic', chatgpt: 'openai', gemini: 'google' }

/** Events name models, so what is remembered of them must have a bound. */
const modelsMax = 10_000
const dayMs = 86_400_000

/** Of one model and one span of time. Prices are whole multiples of 1/`unitsPerUsd` dollars per million tokens. */
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
  /** The last one that holds counts. */
  eras: Era[]
}

/** The catalogue that comes with the package: nothing is fetched. `lookUp` finds a model in another one. */
export function createPriceBook(lookUp: typeof calcPrice = calcPrice): PriceBook {
  const version = catalogueVersion()
  const models = new LRUCache<string, PricedModel | 'unpriced'>({ max: modelsMax })

  function find(platform: string, model: string): PricedModel | 'unpriced' {
    const providerId = Object.hasOwn(providers, platform) ? providers[platform] : undefined
    const found = (providerId && lookUp({}, model, { providerId })) || lookUp({}, model)
    if (!found) return 'unpriced'
    return { source: `genai-prices/${version}:${found.provider.id}/${found.model.id}`, eras: erasOf(found.model) }
  }

  return {
    priceOf(platform, model, epochMs, tokensIn, tokensOut) {
      const key = `${platform} ${model}`
      let priced = models.get(key)
      if (priced === undefined) {
        priced = find(platform, model)
        models.set(key, priced)
      }
      if (priced === 'unpriced') return undefined
      const era = priced.eras.findLast((one) => one.holds(epochMs))
      const costMicros = era && costMicrosOf(era, tokensIn, tokensOut)
      return costMicros === undefined ? undefined : { costMicros, source: priced.source }
    },
  }
}

/** Dollars per million tokens are micro-dollars per token, so the sum is one of micro-dollars already. */
function costMicrosOf(era: Era, tokensIn: number, tokensOut: number): number | undefined {
  const input = unitsOf(era.input, tokensIn)
  const output = unitsOf(era.output, tokensIn)
  if ((input === undefined && tokensIn > 0) || (output === undefined && tokensOut > 0)) return undefined
  const units = BigInt(tokensIn) * (input ?? 0n) + BigInt(tokensOut) * (output ?? 0n)
  return Number((2n * units + era.unitsPerUsd) / (2n * era.unitsPerUsd))
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

/** The decimal that reads back as the number, exactly: 0.075 is 75 with three decimals. */
function decimalOf(value: number): { digits: bigint; decimals: number } {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const decimals = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return decimals >= 0 ? { digits, decimals } : { digits: digits * 10n ** BigInt(-decimals), decimals: 0 }
}

/** Prices that are not dated hold at all times; dated ones from midnight UTC, or at some hours of each day. */
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

function catalogueVersion(): string {
  const path = findPackageJSON('@pydantic/genai-prices', import.meta.url)
  if (path === undefined) throw new Error('the package @pydantic/genai-prices has no package.json')
  const manifest: { version: string } = JSON.parse(readFileSync(path, 'utf8'))
  return manifest.version
}
