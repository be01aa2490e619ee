import type { Static } from 'typebox'
import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { priceDecimalsMax, priceOverridesMax, priceUsdPerMtokMax } from '../../../../contract/limits.ts'
import { parseTimestamp, type Timestamp } from '../../../../contract/timestamp.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../provenance/index.ts'
import { readTenant } from '../../../db/database.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import { compileSchema } from '../../../http/request-validation.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { decimalOf, priceCatalogue } from './list-price-book.ts'
import { type PriceListSchema, type PriceOverride, PricesBody } from './prices-schemas.ts'
import { deletePrices, inOrder, insertPrices, lockPrices } from './prices-store.ts'
import { type PriceProof, pricesChange, pricesKind, samePrices } from './proven-prices.ts'
import type { TenantPrices } from './tenant-prices.ts'

type PriceList = Static<typeof PriceListSchema>

export interface Prices {
  get(tenant: Tenant): Promise<PriceList>
  /**
   * Replaces the tenant's own prices by an unchecked body, and returns the stored list. Repeating it changes nothing
   * and writes no event. Throws `validation-failed` with a pointer to each fault.
   */
  replace(caller: Caller, body: unknown): Promise<PriceList>
}

export function createPrices(
  deps: Pick<ModuleParts, 'database' | 'governance'> & {
    tenantPrices: Pick<TenantPrices, 'changed'>
    proof: PriceProof
  },
): Prices {
  const { database, governance, tenantPrices, proof } = deps
  const catalogue = priceCatalogue()

  return {
    async get(tenant) {
      const { prices, isProven } = await readTenant(database, tenant.slug, proof.read)
      return { prices, ...(isProven ? {} : { verified: false }), catalogue }
    },

    async replace(caller, body) {
      const { tenant } = caller
      const after = inOrder(readPrices(body))
      await database.withTenant(tenant.slug, async (tx) => {
        await lockPrices(tx)
        const { prices: before, isProven, eventId } = await proof.read(tx)
        // Confirming a list that was inserted by hand is a change too.
        if (isProven && samePrices(before, after)) return
        await deletePrices(tx)
        if (after.length > 0) await insertPrices(tx, after)
        const event = await governance.append(tx, tenant, {
          kind: pricesKind,
          subject: `tenant:${tenant.slug}`,
          details: { change: pricesChange, before: { prices: asJson(before) }, after: { prices: asJson(after) } },
          actor: caller,
        })
        requireNewest(event.recordId, eventId)
        tx.afterCommit(() => tenantPrices.changed(tenant.slug))
      })
      return { prices: after, catalogue }
    },
  }
}

/** Requires the newest event: since it alone counts, the events of a tenant must follow the order of the changes. */
function requireNewest(eventId: string, before: string | undefined): void {
  if (before === undefined || eventId > before) return
  throw new DomainError(
    'concurrent-modification',
    'The clock of this process is behind that of the process that last changed the prices. Try again shortly.',
  )
}

function asJson(prices: readonly PriceOverride[]): JsonObject[] {
  return prices.map((price) => ({ ...price }))
}

const shapeErrors = compileSchema(PricesBody)
const notATime = 'must be an RFC 3339 timestamp, in UTC of the years 1 to 9999'

/**
 * Returns the prices of a body, with their times in UTC with six fractional digits. Throws `validation-failed` with all
 * faults, of the schema and of rules that a schema cannot express.
 */
function readPrices(body: unknown): PriceOverride[] {
  const listed = isJsonObject(body) ? body.prices : undefined
  const entries = Array.isArray(listed) ? listed : []
  // The schema's validator would report each of half a million entries.
  if (entries.length > priceOverridesMax) {
    throw validationFailed([{ pointer: '/prices', detail: `must have at most ${priceOverridesMax} entries` }])
  }
  const errors = body === undefined ? [{ pointer: '', detail: 'is required: send a JSON body' }] : shapeErrors(body)
  const known = new Set(errors.map((error) => error.pointer))
  for (const error of ruleErrors(entries)) if (!known.has(error.pointer)) errors.push(error)
  if (errors.length > 0) throw validationFailed(errors)
  return (entries as unknown as PriceOverride[]).map(normalised)
}

/** Checks the rules beyond the schema, as far as their members exist. */
function ruleErrors(entries: readonly JsonValue[]): PointedError[] {
  const errors: PointedError[] = []
  const firstAt = new Map<string, number>()
  for (const [index, entry] of entries.entries()) {
    if (!isJsonObject(entry)) continue
    const pointer = `/prices/${index}`
    for (const name of ['input_usd_per_mtok', 'output_usd_per_mtok']) {
      const price = entry[name]
      if (typeof price !== 'number' || !(price >= 0 && price <= priceUsdPerMtokMax)) continue
      if (decimalOf(price).decimals > priceDecimalsMax) {
        errors.push({ pointer: `${pointer}/${name}`, detail: `must have at most ${priceDecimalsMax} decimals` })
      }
    }
    const from = timeOf(entry.effective_from)
    const until = timeOf(entry.effective_until)
    if (from === 'none') errors.push({ pointer: `${pointer}/effective_from`, detail: notATime })
    if (until === 'none') errors.push({ pointer: `${pointer}/effective_until`, detail: notATime })
    if (typeof from !== 'object') continue
    // Times with a four-digit year in UTC sort like their texts.
    if (typeof until === 'object' && until.text <= from.text) {
      errors.push({ pointer: `${pointer}/effective_until`, detail: 'must be later than effective_from' })
    }
    const key = JSON.stringify([entry.llm_platform, entry.llm_model, from.text])
    const first = firstAt.get(key)
    if (first === undefined) firstAt.set(key, index)
    else {
      const detail = `has the same platform, model and start as /prices/${first}: remove one of them`
      errors.push({ pointer, detail })
    }
  }
  return errors
}

/** Returns undefined without a text, and `none` for a text that is no time. */
function timeOf(value: JsonValue | undefined): Timestamp | 'none' | undefined {
  return typeof value === 'string' ? (parseTimestamp(value) ?? 'none') : undefined
}

function normalised(price: PriceOverride): PriceOverride {
  const { effective_from: from, effective_until: until, ...rest } = price
  return { ...rest, effective_from: textOf(from), ...(until === undefined ? {} : { effective_until: textOf(until) }) }
}

/** Returns the canonical text of a checked time. */
function textOf(time: string): string {
  return parseTimestamp(time)!.text
}
