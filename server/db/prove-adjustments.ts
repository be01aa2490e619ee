import type pg from 'pg'
import { newestAdjustmentEvent, saveSums, storedSums } from './adjustment-sums.ts'
import type { RowProofs } from './row-proofs.ts'

/**
 * Proves the stored ratings and sums of erased events of every tenant, in the transaction of the caller. The migration
 * that adds the proofs does so, once, and cannot check these rows.
 *
 * @returns the number of rows of each table that were proven without a check
 */
export async function proveExistingAdjustments(
  owner: pg.ClientBase,
  proofs: RowProofs,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const { rows: tenants } = await owner.query<{ slug: string }>('select slug from hub.tenants order by slug')
  for (const { slug } of tenants) {
    // Row-level security also applies to the owner.
    await owner.query(`select set_config('hub.tenant_id', $1, true)`, [slug])
    const sums = await storedSums(owner, proofs, slug)
    const eventId = await newestAdjustmentEvent(owner, slug)
    const { ratings, erased } = sums.rows
    if (ratings + erased === 0 && eventId === null) continue
    await saveSums(owner, proofs, slug, sums, eventId)
    if (ratings > 0) counts['hub.telemetry_ratings'] = (counts['hub.telemetry_ratings'] ?? 0) + ratings
    if (erased > 0) counts['hub.telemetry_rollups'] = (counts['hub.telemetry_rollups'] ?? 0) + erased
  }
  await owner.query(`select set_config('hub.tenant_id', '', true)`)
  return counts
}
