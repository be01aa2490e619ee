import { sql } from 'kysely'
import type { TenantTx } from '../../db/database.ts'
import type { Release } from './holds-types.ts'

const columns = ['release_id', 'record_id', 'reason', 'created_at', 'created_by', 'expires_at', 'event_id'] as const

export async function insertRelease(tx: TenantTx, release: Release): Promise<void> {
  await tx.db
    .insertInto('hub.legal_hold_releases')
    .values({ tenant_id: tx.tenantId, ...release })
    .execute()
}

/** Returns all releases of the records, including ended ones. */
export async function findReleases(tx: TenantTx, recordIds: readonly string[]): Promise<Release[]> {
  if (recordIds.length === 0) return []
  return tx.db
    .selectFrom('hub.legal_hold_releases')
    .select(columns)
    .where('tenant_id', '=', tx.tenantId)
    .where('record_id', '=', sql<string>`any(${[...recordIds]})`)
    .execute()
}

/** Returns the next releases of a record by age. Requires a transaction of `inIndexOrder`. */
export async function releasesAfter(
  tx: TenantTx,
  recordId: string,
  after: string | undefined,
  count: number,
): Promise<Release[]> {
  return tx.db
    .selectFrom('hub.legal_hold_releases')
    .select(columns)
    .where('tenant_id', '=', tx.tenantId)
    .where('record_id', '=', recordId)
    .where('release_id', '>', after ?? '00000000-0000-0000-0000-000000000000')
    .orderBy('release_id')
    .limit(count)
    .execute()
}
