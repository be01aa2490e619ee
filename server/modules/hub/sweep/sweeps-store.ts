import { sql } from 'kysely'
import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'

export type Lane = 'all' | 'recent'

export type SweepRow = Omit<TenantTables['hub.sweeps'], 'tenant_id'>

/** How far it has come. */
export type SweepProgress = Pick<
  SweepRow,
  'log_index' | 'after_id' | 'started_at' | 'finished_at' | 'checked' | 'failed'
>

const columns = [
  'lane',
  'log_index',
  'after_id',
  'claimed_until',
  'started_at',
  'updated_at',
  'finished_at',
  'checked',
  'failed',
] as const

/** The tenant's lanes that were ever begun. */
export function findSweeps(tx: TenantTx): Promise<SweepRow[]> {
  return tx.db.selectFrom('hub.sweeps').select(columns).where('tenant_id', '=', tx.tenantId).orderBy('lane').execute()
}

/** Claims a lane until a time; undefined while another process has it. */
export async function claimSweep(tx: TenantTx, lane: Lane, now: string, until: string): Promise<SweepRow | undefined> {
  const fresh = { log_index: 0, started_at: now, updated_at: now, checked: 0, failed: 0 }
  await tx.db
    .insertInto('hub.sweeps')
    .values({ tenant_id: tx.tenantId, lane, ...fresh, after_id: null, claimed_until: null, finished_at: null })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'lane']).doNothing())
    .execute()
  const row = await tx.db
    .selectFrom('hub.sweeps')
    .select(columns)
    .where('tenant_id', '=', tx.tenantId)
    .where('lane', '=', lane)
    .where(sql<boolean>`(claimed_until is null or claimed_until < ${now}::timestamptz)`)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (row === undefined) return undefined
  await tx.db
    .updateTable('hub.sweeps')
    .set({ claimed_until: until })
    .where('tenant_id', '=', tx.tenantId)
    .where('lane', '=', lane)
    .execute()
  return { ...row, claimed_until: until }
}

/** Stores how far a claimed lane has come, and gives it back; false where the claim ran out and another has it. */
export async function releaseSweep(
  tx: TenantTx,
  lane: Lane,
  claimedUntil: string,
  progress: SweepProgress & { updated_at: string },
): Promise<boolean> {
  const saved = await tx.db
    .updateTable('hub.sweeps')
    .set({ ...progress, claimed_until: null })
    .where('tenant_id', '=', tx.tenantId)
    .where('lane', '=', lane)
    .where('claimed_until', '=', claimedUntil)
    .executeTakeFirst()
  return saved.numUpdatedRows === 1n
}
