import type { TenantTx } from '../../db/database.ts'

/** Returns whether a record of the type with that id or a later one exists. Ignores the service's own records. */
export async function hasContentSince(tx: TenantTx, recordType: string, fromId: string): Promise<boolean> {
  const { rows } = await tx.client.query(
    `select 1 from hub.records
     where tenant_id = $1 and record_type = $2 and record_id >= $3 and created_by <> 'service:hub' limit 1`,
    [tx.tenantId, recordType, fromId],
  )
  return rows.length > 0
}
