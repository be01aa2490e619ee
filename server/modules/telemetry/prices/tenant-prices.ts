import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../../contract/domain-error.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import { createPriceBook, type PriceBook } from './list-price-book.ts'
import type { PriceProof, ProvenPrices } from './proven-prices.ts'
import { createTenantPriceBook } from './tenant-price-book.ts'

/** Milliseconds for which another process may use replaced prices. */
const ttlMs = 1000
const tenantsMax = 1000
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
  'The price list of this tenant is not the one of its signed governance event, so nothing is priced by it. Check the ' +
  'list, send it again with PUT /api/v1/telemetry/prices, then repeat this.'

interface Entry {
  book: Promise<PriceBook>
  /** Infinite until the book is read: until then all callers wait for the same read. */
  expiresAtMs: number
}

export function createTenantPrices(deps: {
  database: Database
  proof: PriceProof
  /** Reports, at each read, a tenant whose list differs from its signed event. */
  unproven(tenantId: string, eventId: string | undefined): void
  /** The book for everything without a price of the tenant's own. */
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
    // The time counts from before the read, which is how old its result may be.
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
      // Waiting callers get the error; the next call tries again.
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

    // A running read started before the change was known, so only earlier callers get its book.
    changed: (tenantId) => void entries.delete(tenantId),
  }
}
