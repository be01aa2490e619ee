import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../../contract/domain-error.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import { createPriceBook, type PriceBook } from './list-price-book.ts'
import type { PriceProof, ProvenPrices } from './proven-prices.ts'
import { createTenantPriceBook } from './tenant-price-book.ts'

/** How long another process may go on with prices that have been replaced. */
const ttlMs = 1000
const tenantsMax = 1000
/** Of all tenants together: an entry is half a kilobyte. */
const overridesMax = 100_000

/** Prices nothing: which list holds is not known, and a false cost would be sealed. */
const noBook: PriceBook = { priceOf: () => undefined, explain: () => 'prices_not_verified' }

/**
 * What the tokens of each tenant cost: its own prices, then the catalogue's. A list that is not the one of its signed event
 * prices nothing.
 */
export interface TenantPrices {
  /** Of at most a second ago, and never older than the last change made by this process. */
  bookOf(tenantId: string): Promise<PriceBook>
  /** Read from the database by a query that begins after the call. */
  freshBookOf(tenantId: string): Promise<PriceBook>
  /** As this transaction sees them. Throws `hub-unavailable` for a list that is not the one of its signed event. */
  bookWithin(tx: TenantTx): Promise<PriceBook>
  /** To be called after every commit that changed the prices of a tenant. */
  changed(tenantId: string): void
}

const notVerified =
  'The price list of this tenant is not the one of its signed governance event, so nothing is priced by it. Check the ' +
  'list, send it again with PUT /api/v1/telemetry/prices, then repeat this.'

interface Entry {
  book: Promise<PriceBook>
  /** Infinite until the book is there: until then everyone waits for the same one. */
  expiresAtMs: number
}

export function createTenantPrices(deps: {
  database: Database
  proof: PriceProof
  /** Hears of tenants whose list is not the one of its signed event, at each reading. */
  unproven(tenantId: string, eventId: string | undefined): void
  /** Prices of what a tenant has no price of its own for. */
  book?: PriceBook
  nowMs?: () => number
}): TenantPrices {
  const { database, proof, unproven, book: catalogue = createPriceBook(), nowMs = () => performance.now() } = deps
  const entries = new LRUCache<string, Entry>({ max: tenantsMax, maxSize: tenantsMax + overridesMax })

  const bookOfAll = ({ prices }: ProvenPrices) =>
    prices.length === 0 ? catalogue : createTenantPriceBook(prices, catalogue)

  async function read(tenantId: string): Promise<{ book: PriceBook; size: number }> {
    const proven = await database.withTenant(tenantId, proof.read, { readOnly: true })
    if (proven.isProven) return { book: bookOfAll(proven), size: 1 + proven.prices.length }
    unproven(tenantId, proven.eventId)
    return { book: noBook, size: 1 }
  }

  function start(tenantId: string): Promise<PriceBook> {
    // Counted from before the reading: that is how old what it finds may be.
    const expiresAtMs = nowMs() + ttlMs
    const reading = read(tenantId)
    const entry: Entry = { book: reading.then(({ book }) => book), expiresAtMs: Number.POSITIVE_INFINITY }
    entries.set(tenantId, entry, { size: 1 })
    const isCurrent = () => entries.peek(tenantId) === entry
    reading.then(
      ({ size }) => {
        entry.expiresAtMs = expiresAtMs
        if (isCurrent()) entries.set(tenantId, entry, { size })
      },
      // Whoever waits gets the error; the next one tries again.
      () => void (isCurrent() && entries.delete(tenantId)),
    )
    return entry.book
  }

  return {
    bookOf(tenantId) {
      const entry = entries.get(tenantId)
      return entry && nowMs() < entry.expiresAtMs ? entry.book : start(tenantId)
    },

    freshBookOf: start,

    async bookWithin(tx) {
      const proven = await proof.read(tx)
      if (proven.isProven) return bookOfAll(proven)
      unproven(tx.tenantId, proven.eventId)
      throw new DomainError('hub-unavailable', notVerified)
    },

    // A reading under way began before the change was known, so its book goes only to those who asked before.
    changed: (tenantId) => void entries.delete(tenantId),
  }
}
