import type { TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'
import { findRow } from '../../db/tenant-rows.ts'

/** Returns whether the Hub of the tenant has been provisioned. */
export async function isProvisioned(tx: TenantTx): Promise<boolean> {
  const row = await findRow(tx, 'hub.tenant_settings', ['provisioned_at'])
  return row?.provisioned_at != null
}

/** Records since when the tenant is live; returns false if that is already recorded. Waits for concurrent calls. */
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

/** Returns the number of telemetry records, counted up to `max`. */
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

/** Returns the step of an ingest transaction that adds a delta; rollup-delta.ts writes `entries`. */
export function deltaStep(tenantId: string, deltaId: string, entries: string): IngestStep {
  return { statement: insertDelta, values: [tenantId, deltaId, entries] }
}

/** Returns those of the deltas that are not aggregated yet. */
export async function deltasAmong(tx: TenantTx, deltaIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.client.query<[string]>({
    text: 'select delta_id from hub.telemetry_deltas where tenant_id = $1 and delta_id = any ($2::uuid[])',
    values: [tx.tenantId, [...deltaIds]],
    rowMode: 'array',
  })
  return new Set(rows.map(([deltaId]) => deltaId))
}
