import { type AdjustmentKind, added, adjustmentPage, storedSums, sumOf } from '../../../db/adjustment-sums.ts'
import { type Database, readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { FigureAudit, Finding } from '../../integrity-sweep/sweep-types.ts'
import { provenSums } from './adjustment-store.ts'

/** The cost of a row, in records: it is hashed, and neither parsed nor counted. */
const rowCost = 0.05

type Step = Awaited<ReturnType<FigureAudit['step']>>

/**
 * Compares the ratings and the sums of erased events of a tenant with their proven sums, in short steps. A rating or an
 * erasure between two steps makes a difference and must not raise an alert, so sums that differ are added up once more
 * in one snapshot.
 */
export function createAdjustmentAudits({ database }: { database: Database }): (tenant: Tenant) => FigureAudit {
  const inSnapshot = { readOnly: true, snapshot: true } as const

  async function recount(tx: TenantTx): Promise<Step> {
    const proven = await provenSums(tx)
    const { rows, ...stored } = await storedSums(tx.client, tx.proofs, tx.tenantId)
    const failedChecks: Finding['failedChecks'] =
      proven === undefined
        ? ['adjustments_proven']
        : [
            ...(proven.ratings === stored.ratings ? [] : (['ratings_proven'] as const)),
            ...(proven.erased === stored.erased ? [] : (['erased_figures_proven'] as const)),
          ]
    const found = { ratings: rows.ratings, erased_figures: rows.erased, event: proven?.eventId ?? null }
    const findings = failedChecks.length === 0 ? [] : [{ subject: 'figures:adjustments', failedChecks, found }]
    return { findings, cost: 1 + (rows.ratings + rows.erased) * rowCost, isOver: true }
  }

  return (tenant) => {
    const sums = { ratings: 0n, erased: 0n }
    const kinds: AdjustmentKind[] = ['ratings', 'erased']
    let after: Awaited<ReturnType<typeof adjustmentPage>>['next']
    let differs = false
    const within = <Result>(work: (tx: TenantTx) => Promise<Result>, options: { snapshot?: boolean } = {}) =>
      readTenant(database, tenant.slug, work, { ...options })

    async function addPage(kind: AdjustmentKind): Promise<Step> {
      const { rows, sum, next } = await within(async (tx) => {
        const page = await adjustmentPage(tx.client, tx.tenantId, kind, after)
        return { rows: page.texts.length, sum: sumOf(tx.proofs, tx.tenantId, kind, page.texts), next: page.next }
      })
      // Counts outside of the transaction, which may run twice.
      sums[kind] = added(sums[kind], sum)
      after = next
      if (next === undefined) kinds.shift()
      return { findings: [], cost: 1 + rows * rowCost, isOver: false }
    }

    return {
      async step() {
        const kind = kinds[0]
        if (kind !== undefined) return addPage(kind)
        if (differs) return within(recount, inSnapshot)
        const proven = await within((tx) => provenSums(tx), inSnapshot)
        differs = proven?.ratings !== sums.ratings || proven.erased !== sums.erased
        return { findings: [], cost: 1, isOver: !differs }
      },
    }
  }
}
