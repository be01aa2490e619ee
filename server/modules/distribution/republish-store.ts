import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import { insertRow, updateRows } from '../../db/tenant-rows.ts'
import type { RepublishResponse, RepublishResult } from './distribution-types.ts'

export type RepublishRow = Omit<TenantTables['hub.republishes'], 'tenant_id' | 'status' | 'results' | 'error'> & {
  status: RepublishResponse['status']
  results: RepublishResult[]
  error: { detail: string } | null
}

/** Selects the republications of a tenant. */
function republishes(tx: TenantTx) {
  return tx.db
    .selectFrom('hub.republishes')
    .select(['job_id', 'status', 'created_at', 'created_by', 'started_at'])
    .select(['finished_at', 'done', 'total', 'results', 'error'])
    .where('tenant_id', '=', tx.tenantId)
    .$castTo<RepublishRow>()
}

export async function addRepublish(tx: TenantTx, row: RepublishRow): Promise<void> {
  await insertRow(tx, 'hub.republishes', {
    ...row,
    results: JSON.stringify(row.results),
    error: row.error && JSON.stringify(row.error),
  })
}

export async function republishById(tx: TenantTx, jobId: string): Promise<RepublishRow | undefined> {
  return republishes(tx).where('job_id', '=', jobId).executeTakeFirst()
}

export async function latestRepublish(tx: TenantTx): Promise<RepublishRow | undefined> {
  return republishes(tx).orderBy('created_at', 'desc').orderBy('job_id', 'desc').limit(1).executeTakeFirst()
}

/** Returns and locks the running republication. */
export async function lockOpenRepublish(tx: TenantTx): Promise<RepublishRow | undefined> {
  const open = republishes(tx).where('status', 'in', ['queued', 'running'])
  return open.orderBy('created_at', 'desc').limit(1).forUpdate().executeTakeFirst()
}

export async function changeRepublish(
  tx: TenantTx,
  row: Pick<RepublishRow, 'job_id' | 'status' | 'started_at' | 'finished_at' | 'done' | 'results' | 'error'>,
): Promise<void> {
  const { job_id, results, error, ...changes } = row
  await updateRows(
    tx,
    'hub.republishes',
    { job_id },
    { ...changes, results: JSON.stringify(results), error: error && JSON.stringify(error) },
  )
}
