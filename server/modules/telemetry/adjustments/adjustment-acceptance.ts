import { type AdjustmentKind, newestAdjustmentEvent, saveSums, storedSums } from '../../../db/adjustment-sums.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Actor } from '../../governance/governance-types.ts'
import { lockRepricing } from '../prices/repricing-store.ts'
import { provenSums } from './adjustment-store.ts'

/**
 * Proves the stored ratings and sums of erased events by an operator's decision. Returns the number of rows of each.
 */
export type AcceptAdjustments = (tenant: Tenant, actor: Actor) => Promise<Record<AdjustmentKind, number>>

/**
 * Repairs the proofs after somebody edited these rows and the originals are lost. A governance event records it,
 * because the stored rows are accepted without a check.
 */
export function createAdjustmentAcceptance(deps: Pick<ModuleParts, 'database' | 'governance'>): AcceptAdjustments {
  const { database, governance } = deps
  return (tenant, actor) =>
    database.withTenant(tenant.slug, async (tx) => {
      await lockRepricing(tx)
      const before = await provenSums(tx)
      const { rows, ...sums } = await storedSums(tx.client, tx.proofs, tx.tenantId)
      await saveSums(tx.client, tx.proofs, tx.tenantId, sums, await newestAdjustmentEvent(tx.client, tx.tenantId))
      await governance.append(tx, tenant, {
        kind: 'tenant.config_changed',
        subject: `tenant:${tenant.slug}`,
        details: {
          change: 'figures_accepted',
          ratings: rows.ratings,
          erased_figures: rows.erased,
          ratings_proven: before?.ratings === sums.ratings,
          erased_figures_proven: before?.erased === sums.erased,
        },
        actor,
      })
      return rows
    })
}
