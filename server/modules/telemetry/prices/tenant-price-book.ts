import { parseTimestamp } from '../../../../contract/timestamp.ts'
import type { PriceBook } from './list-price-book.ts'
import type { PriceOverride } from './price-override-types.ts'
import { costMicrosOf, decimalOf, exactMs } from './prices-arithmetic.ts'

/** A price for a period, in whole multiples of 1/`unitsPerUsd` dollars per million tokens. */
interface DatedPrice {
  fromMs: number
  untilMs: number
  unitsPerUsd: bigint
  inputUnits: bigint
  outputUnits: bigint
  source: string
}

/** Stands for every platform; no platform has this name. */
const anyPlatform = '*'

/** Prices of one model by platform, in the order of their beginnings. */
type ModelPrices = Map<string, DatedPrice[]>

/**
 * Creates the price book of a tenant. It prefers an override for the platform, then one for the model on any platform,
 * then `catalogue`. An override holds from `effective_from` until `effective_until` or the beginning of the next one.
 */
export function createTenantPriceBook(overrides: readonly PriceOverride[], catalogue: PriceBook): PriceBook {
  const models = new Map<string, ModelPrices>()
  for (const [model, ofModel] of Map.groupBy(overrides, (override) => override.llm_model)) {
    const platforms: ModelPrices = new Map()
    for (const [platform, some] of Map.groupBy(ofModel, (override) => override.llm_platform ?? anyPlatform)) {
      platforms.set(
        platform,
        some.map(datedPrice).sort((a, b) => a.fromMs - b.fromMs),
      )
    }
    models.set(model, platforms)
  }

  return {
    priceOf(platform, model, epochMs, tokensIn, tokensOut) {
      const own = priceAt(models.get(model), platform, epochMs)
      if (!own) return catalogue.priceOf(platform, model, epochMs, tokensIn, tokensOut)
      const costMicros = costMicrosOf(own.unitsPerUsd, own.inputUnits, tokensIn, own.outputUnits, tokensOut)
      return { costMicros, source: own.source }
    },

    explain(platform, model, epochMs, tokensIn, tokensOut) {
      const platforms = models.get(model)
      if (priceAt(platforms, platform, epochMs)) return undefined
      const reason = catalogue.explain(platform, model, epochMs, tokensIn, tokensOut)
      const isKnown = platforms?.has(platform) || platforms?.has(anyPlatform)
      return reason === 'unknown_model' && isKnown ? 'no_price_at_ts' : reason
    },
  }
}

function priceAt(platforms: ModelPrices | undefined, platform: string, epochMs: number): DatedPrice | undefined {
  if (!platforms) return undefined
  return holding(platforms.get(platform), epochMs) ?? holding(platforms.get(anyPlatform), epochMs)
}

/** Returns the last price that has begun, unless it has ended: it ended every earlier one. */
function holding(dated: readonly DatedPrice[] | undefined, epochMs: number): DatedPrice | undefined {
  const begun = dated?.findLast((price) => price.fromMs <= epochMs)
  return begun && epochMs < begun.untilMs ? begun : undefined
}

function datedPrice(override: PriceOverride): DatedPrice {
  const input = decimalOf(override.input_usd_per_mtok)
  const output = decimalOf(override.output_usd_per_mtok)
  const decimals = Math.max(input.decimals, output.decimals)
  return {
    fromMs: msOf(override.effective_from),
    untilMs: override.effective_until === undefined ? Number.POSITIVE_INFINITY : msOf(override.effective_until),
    unitsPerUsd: 10n ** BigInt(decimals),
    inputUnits: input.digits * 10n ** BigInt(decimals - input.decimals),
    outputUnits: output.digits * 10n ** BigInt(decimals - output.decimals),
    source: `override:${override.llm_platform ?? anyPlatform}/${override.llm_model}@${override.effective_from}`,
  }
}

function msOf(text: string): number {
  const time = parseTimestamp(text)
  if (!time) throw new RangeError(`not a timestamp: ${text}`)
  return exactMs(time)
}
