import type { TenantTx } from '../../../db/database.ts'
import { findRow } from '../../../db/tenant-rows.ts'
import type { OtlpMapping } from './mapping-schemas.ts'

/** Returns the stored mapping of the tenant. */
export async function findMapping(tx: TenantTx): Promise<OtlpMapping | undefined> {
  const row = await findRow(tx, 'hub.otlp_mappings', ['mapping'])
  return row?.mapping as OtlpMapping | undefined
}

export async function saveMapping(tx: TenantTx, mapping: OtlpMapping, now: string): Promise<void> {
  const values = { mapping: JSON.stringify(mapping), updated_at: now }
  await tx.db
    .insertInto('hub.otlp_mappings')
    .values({ tenant_id: tx.tenantId, ...values })
    .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet(values))
    .execute()
}
