import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import type { RepublishAnswer, RepublishResult } from './distribution-types.ts'

export type RepublishRow = Omit<TenantTables['hub.republishes'], 'tenant_id' | 'status' | 'results' | 'error'> & {
  status: RepublishAnswer['status']
  results: RepublishResult[]
  error: { detail: string } | null
}

const columns = [
  'job_id',
  'status',
  'created_at',
  'created_by',
  'started_at',
  'finished_at',
  'done',
  'total',
  'results',
  'error',
] as const

export async function addRepublish(tx: TenantTx, row: RepublishRow): Promise<void> {
  await tx.db
    .insertInto('hub.republishes')
    .values({
      tenant_id: tx.tenantId,
      ...row,
      results: JSON.stringify(row.results),
      error: row.error && JSON.stringify(row.error),
    })
    .execute()
}

export async function republishById(tx: TenantTx, jobId: string): Promise<RepublishRow | undefined> {
  const row = await tx.db
    .selectFrom('hub.republishes')
    .select(columns)
    .where('tenant_id', '=', tx.tenantId)
    .where('job_id', '=', jobId)
    .executeTakeFirst()
  return row as RepublishRow | undefined
}

export async function latestRepublish(tx: TenantTx): Promise<RepublishRow | undefined> {
  const row = await tx.db
    .selectFrom('hub.republishes')
    .select(columns)
    .where('tenant_id', '=', tx.tenantId)
    .orderBy('created_at', 'desc')
    .orderBy('job_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row as RepublishRow | undefined
}

/** Returns and locks the running republication. */
export async function lockOpenRepublish(tx: TenantTx): Promise<RepublishRow | undefined> {
  const row = await tx.db
    .selectFrom('hub.republishes')
    .select(columns)
    .where('tenant_id', '=', tx.tenantId)
    .where('status', 'in', ['queued', 'running'])
    .orderBy('created_at', 'desc')
    .limit(1)
    .forUpdate()
    .executeTakeFirst()
  return row as RepublishRow | undefined
}

export async function changeRepublish(
  tx: TenantTx,
  row: Pick<RepublishRow, 'job_id' | 'status' | 'started_at' | 'finished_at' | 'done' | 'results' | 'error'>,
): Promise<void> {
  const { job_id, results, error, ...changes } = row
  await tx.db
    .updateTable('hub.republishes')
    .set({ ...changes, results: JSON.stringify(results), error: error && JSON.stringify(error) })
    .where('tenant_id', '=', tx.tenantId)
    .where('job_id', '=', job_id)
    .execute()
}
