import { LRUCache } from 'lru-cache'
import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import { recordIdFloor } from '../../../records/record-clock.ts'
import type { PriceOverride } from './prices-schemas.ts'
import { allPrices, findPriceEvents, inOrder } from './prices-store.ts'

/** The kind of the events about price lists, which other settings of a tenant share. */
export const pricesKind = 'tenant.config_changed'
export const pricesChange = 'prices'

/** The stored prices. */
export interface ProvenPrices {
  prices: PriceOverride[]
  /** Whether the newest governance event about prices has the same list. Otherwise somebody edited the database. */
  isProven: boolean
  /** The id of that event; undefined for a tenant that never had prices. */
  eventId: string | undefined
}

export interface PriceProof {
  /**
   * Reads the tenant's own prices and compares them with the signed event that set them.
   *
   * @throws DomainError `hub-unavailable` if the verifier is too busy
   */
  read(tx: TenantTx): Promise<ProvenPrices>
}

/** Reads verified governance events of the service. */
export interface VerifiedEvents {
  find(tx: TenantTx, ids: readonly string[]): Promise<ReadonlyMap<string, { kind: string; details: JsonObject }>>
}

/** Maximum number of events to read. Further ones are needed only if the first concerns another setting. */
const eventsMax = 3
/** Milliseconds that exceed the difference between clocks of processes, and the length of any transaction. */
const overlapMs = 3_600_000
const tenantsMax = 10_000

interface Seen {
  /** The ids of the newest price events, the newest first. */
  ids: readonly string[]
  scannedAtMs: number
}

/**
 * Creates the proof of prices. It searches all settings of the tenant for the newest event once, and later only those
 * of the last hour. The process remembers the event even if somebody deletes it.
 */
export function createPriceProof({ verifiedEvents }: { verifiedEvents: VerifiedEvents }): PriceProof {
  const seen = new LRUCache<string, Seen>({ max: tenantsMax })

  async function newestEvents(tx: TenantTx): Promise<readonly string[]> {
    const before = seen.get(tx.tenantId)
    const scannedAtMs = Date.now()
    const after = recordIdFloor(before === undefined ? 0 : before.scannedAtMs - overlapMs, 0)
    const found = await findPriceEvents(tx, after, eventsMax)
    const ids = [...new Set([...found, ...(before?.ids ?? [])])].sort().reverse().slice(0, eventsMax)
    seen.set(tx.tenantId, { ids, scannedAtMs })
    return ids
  }

  async function read(tx: TenantTx): Promise<ProvenPrices> {
    const ids = await newestEvents(tx)
    const prices = await allPrices(tx)
    const events = await verifiedEvents.find(tx, ids)
    for (const eventId of ids) {
      const event = events.get(eventId)
      // The event does not verify, so the list it set is unknown.
      if (event === undefined) return { prices, isProven: false, eventId }
      if (event.kind !== pricesKind || event.details.change !== pricesChange) continue
      return { prices, isProven: samePrices(pricesOf(event.details), prices), eventId }
    }
    return { prices, isProven: prices.length === 0, eventId: undefined }
  }

  return {
    async read(tx) {
      const first = await read(tx)
      // The list may have been replaced between the statements of the first read.
      return first.isProven ? first : read(tx)
    },
  }
}

/** Returns the prices of a verified event, whose shape is the service's own. */
function pricesOf({ after }: JsonObject): PriceOverride[] {
  const listed = isJsonObject(after) && Array.isArray(after.prices) ? after.prices : []
  return inOrder(listed as unknown as PriceOverride[])
}

/** Returns a text that is equal for equal prices, regardless of the order of their members. */
function textOfPrices(prices: readonly PriceOverride[]): string {
  return JSON.stringify(
    prices.map((price) => [
      price.llm_platform,
      price.llm_model,
      price.input_usd_per_mtok,
      price.output_usd_per_mtok,
      price.effective_from,
      price.effective_until,
    ]),
  )
}

export const samePrices = (some: readonly PriceOverride[], others: readonly PriceOverride[]): boolean =>
  textOfPrices(some) === textOfPrices(others)
