import type { TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'

/** Whether the Hub of the tenant has been provisioned. */
export async function isProvisioned(tx: TenantTx): Promise<boolean> {
  const row = await tx.db
    .selectFrom('hub.tenant_settings')
    .select('provisioned_at')
    .where('tenant_id', '=', tx.tenantId)
    .executeTakeFirst()
  return row?.provisioned_at != null
}

/** Notes since when the tenant is live, or answers false when that is known already. Waits for others that do the same. */
export async function setLiveSince(tx: TenantTx, now: string): Promise<boolean> {
  const updated = await tx.db
    .updateTable('hub.tenant_settings')
    .set({ live_since: now })
    .where('tenant_id', '=', tx.tenantId)
    .where('live_since', 'is', null)
    .returning('tenant_id')
    .executeTakeFirst()
  return updated !== undefined
}

/** The telemetry records that there are, counted up to `max`. */
export async function countEvents(tx: TenantTx, max: number): Promise<number> {
  const rows = await tx.db
    .selectFrom('hub.records')
    .select('record_id')
    .where('tenant_id', '=', tx.tenantId)
    .where('record_type', '=', 'telemetry_event')
    .limit(max)
    .execute()
  return rows.length
}

const insertDelta = {
  name: 'hub_insert_delta',
  text: 'insert into hub.telemetry_deltas (tenant_id, delta_id, entries) values ($1, $2, $3)',
}

/** What an ingest transaction adds to the numbers; `entries` as rollup-delta.ts writes them. */
export function deltaStep(tenantId: string, deltaId: string, entries: string): IngestStep {
  return { statement: insertDelta, values: [tenantId, deltaId, entries] }
}
