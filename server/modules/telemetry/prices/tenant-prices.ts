import { DomainError } from '../../../../contract/domain-error.ts'
import { exactMs, parseTimestamp } from '../../../../contract/timestamp.ts'
import { TenantCache } from '../../../cached-fetch.ts'
import { type Database, readTenant, type TenantTx } from '../../../db/database.ts'
import { costMicrosOf, createPriceBook, decimalOf, type PriceBook } from './list-price-book.ts'
import type { PriceOverride } from './prices-schemas.ts'
import type { PriceProof, ProvenPrices } from './proven-prices.ts'

/** Maximum number of cached overrides of all tenants: an entry is half a kilobyte. */
const overridesMax = 100_000

/** Prices nothing: the valid list is unknown, and a false cost would be sealed. */
const noBook: PriceBook = { priceOf: () => undefined, explain: () => 'prices_not_verified' }

/**
 * Returns the price books of tenants: their own prices, then the catalogue's. A list that differs from its signed event
 * prices nothing.
 */
export interface TenantPrices {
  /** Returns a book that is at most one second old, and never older than the last change by this process. */
  bookOf(tenantId: string): Promise<PriceBook>
  /** Reads the book from the database by a query that begins after the call. */
  freshBookOf(tenantId: string): Promise<PriceBook>
  /**
   * Reads the book as this transaction sees it. Throws `hub-unavailable` for a list that differs from its signed event.
   */
  bookWithin(tx: TenantTx): Promise<PriceBook>
  /** Drops the cached book. Call it after every commit that changed the prices of a tenant. */
  changed(tenantId: string): void
}

const notVerified =
  'The price list of this tenant does not match its signed governance event, so it is not used. Check the list, ' +
  'send it again with PUT /api/v1/telemetry/prices, then repeat the request.'

/** The number of the tenant's own prices decides the size in the cache. */
type CachedBook = PriceBook & { overrides?: number }

export function createTenantPrices(deps: {
  database: Database
  proof: PriceProof
  /** Reports, at each read, a tenant whose list differs from its signed event. */
  unproven(tenantId: string, eventId: string | undefined): void
  /** The book for everything without a price of the tenant's own. */
  book?: PriceBook
  nowMs?: () => number
}): TenantPrices {
  const { database, proof, unproven, book: catalogue = createPriceBook(), nowMs } = deps
  const books = new TenantCache(read, { nowMs, sizeOf: ({ overrides = 0 }) => overrides, sizeMax: overridesMax })

  const bookOfAll = ({ prices }: ProvenPrices): CachedBook =>
    prices.length === 0 ? catalogue : createTenantPriceBook(prices, catalogue)

  async function read(tenantId: string): Promise<CachedBook> {
    const proven = await readTenant(database, tenantId, proof.read)
    if (proven.isProven) return bookOfAll(proven)
    unproven(tenantId, proven.eventId)
    return noBook
  }

  return {
    bookOf: (tenantId) => books.get(tenantId),
    freshBookOf: (tenantId) => books.getFresh(tenantId),

    async bookWithin(tx) {
      const proven = await proof.read(tx)
      if (proven.isProven) return bookOfAll(proven)
      unproven(tx.tenantId, proven.eventId)
      throw new DomainError('hub-unavailable', notVerified)
    },

    changed: (tenantId) => books.drop(tenantId),
  }
}

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
export function createTenantPriceBook(overrides: readonly PriceOverride[], catalogue: PriceBook): CachedBook {
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
    overrides: overrides.length,

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
