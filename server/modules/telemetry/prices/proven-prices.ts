import { LRUCache } from 'lru-cache'
import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Records } from '../../hub/hub-types.ts'
import type { PriceOverride } from './price-override-types.ts'
import { allPrices, findPriceEvents, inOrder } from './prices-store.ts'

/** The kind of the events about price lists; other settings of a tenant have it, too. */
export const pricesKind = 'tenant.config_changed'
export const pricesChange = 'prices'

/** The prices as they are stored. */
export interface ProvenPrices {
  prices: PriceOverride[]
  /** Whether the newest governance event about prices has the same list. Somebody edited the database if not. */
  isProven: boolean
  /** That event; undefined for a tenant that never had prices. */
  eventId: string | undefined
}

export interface PriceProof {
  /**
   * Reads the tenant's own prices and compares them with the signed event that set them.
   *
   * @throws DomainError `hub-unavailable` when there is too much to verify already
   */
  read(tx: TenantTx): Promise<ProvenPrices>
}

/** Reads verified governance events of the service. */
export interface VerifiedEvents {
  find(tx: TenantTx, ids: readonly string[]): Promise<ReadonlyMap<string, { kind: string; details: JsonObject }>>
}

/** Newest events that are looked at. All but the first are needed only if that is about something else. */
const eventsMax = 3
/** Clocks of processes differ by less, and no transaction takes as long. */
const overlapMs = 3_600_000
const tenantsMax = 10_000

interface Seen {
  /** The newest price events, the newest first. */
  ids: readonly string[]
  scannedAtMs: number
}

/**
 * The newest event is looked for among all of the tenant's settings once, then among those of the last hour. It stays
 * known to the process if somebody deletes it.
 */
export function createPriceProof(deps: { told: VerifiedEvents; records: Pick<Records, 'firstIdAt'> }): PriceProof {
  const { told, records } = deps
  const seen = new LRUCache<string, Seen>({ max: tenantsMax })

  async function newestEvents(tx: TenantTx): Promise<readonly string[]> {
    const before = seen.get(tx.tenantId)
    const scannedAtMs = Date.now()
    const after = records.firstIdAt(before === undefined ? 0 : before.scannedAtMs - overlapMs, 0)
    const found = await findPriceEvents(tx, after, eventsMax)
    const ids = [...new Set([...found, ...(before?.ids ?? [])])].sort().reverse().slice(0, eventsMax)
    seen.set(tx.tenantId, { ids, scannedAtMs })
    return ids
  }

  async function read(tx: TenantTx): Promise<ProvenPrices> {
    const ids = await newestEvents(tx)
    const prices = await allPrices(tx)
    const events = await told.find(tx, ids)
    for (const eventId of ids) {
      const event = events.get(eventId)
      // It does not verify, so nothing says which list it set.
      if (event === undefined) return { prices, isProven: false, eventId }
      if (event.kind !== pricesKind || event.details.change !== pricesChange) continue
      return { prices, isProven: samePrices(pricesOf(event.details), prices), eventId }
    }
    return { prices, isProven: prices.length === 0, eventId: undefined }
  }

  return {
    async read(tx) {
      const first = await read(tx)
      // The list may have been replaced between the statements of the first reading.
      return first.isProven ? first : read(tx)
    },
  }
}

/** Of a verified event, whose shape is the service's own. */
function pricesOf({ after }: JsonObject): PriceOverride[] {
  const listed = isJsonObject(after) && Array.isArray(after.prices) ? after.prices : []
  return inOrder(listed as unknown as PriceOverride[])
}

/** Equal for equal prices in whatever order their members were sent. */
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
