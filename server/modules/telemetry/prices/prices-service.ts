import type { Static } from 'typebox'
import { DomainError } from '../../../../contract/domain-error.ts'
import type { JsonObject } from '../../../../provenance/index.ts'
import { readTenant } from '../../../db/database.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { priceCatalogue } from './list-price-book.ts'
import { readPrices } from './prices-check.ts'
import type { PriceListSchema, PriceOverride } from './prices-schemas.ts'
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
