import type { JsonObject } from '../../../../provenance/index.ts'
import type { Database } from '../../../db/database.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { PriceOverride, Prices } from './price-override-types.ts'
import { priceCatalogue } from './prices.ts'
import { readPrices } from './prices-check.ts'
import { allPrices, deletePrices, inOrder, insertPrices, lockPrices } from './prices-store.ts'
import type { TenantPrices } from './tenant-prices.ts'

export function createPrices(deps: {
  database: Database
  governance: GovernanceLog
  tenantPrices: Pick<TenantPrices, 'changed'>
}): Prices {
  const { database, governance, tenantPrices } = deps
  const catalogue = priceCatalogue()

  return {
    async get(tenant) {
      return { prices: await database.withTenant(tenant.slug, allPrices, { readOnly: true }), catalogue }
    },

    async replace(caller, body) {
      const { tenant } = caller
      const after = inOrder(readPrices(body))
      await database.withTenant(tenant.slug, async (tx) => {
        await lockPrices(tx)
        const before = await allPrices(tx)
        if (asText(before) === asText(after)) return
        await deletePrices(tx)
        if (after.length > 0) await insertPrices(tx, after)
        await governance.append(tx, tenant, {
          kind: 'tenant.config_changed',
          subject: `tenant:${tenant.slug}`,
          details: { change: 'prices', before: { prices: asJson(before) }, after: { prices: asJson(after) } },
          actor: caller,
        })
        tx.afterCommit(() => tenantPrices.changed(tenant.slug))
      })
      return { prices: after, catalogue }
    },
  }
}

/** Equal for equal prices in whatever order their members were sent. */
function asText(prices: readonly PriceOverride[]): string {
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

function asJson(prices: readonly PriceOverride[]): JsonObject[] {
  return prices.map((price) => ({ ...price }))
}
