import type pg from 'pg'
import type { TenantTx } from '../../server/db/database.ts'
import { noContents } from '../../server/db/record-encryption.ts'
import { readText, storedText } from '../../server/records/stored-text.ts'

/** A transaction for reading texts of tenants that are not in Mode B. */
export const clearTx = { contents: noContents } as TenantTx

/** Returns the canonical texts of a tenant's telemetry events in the order of their ids. The tenant is not in Mode B. */
export async function eventTexts(client: pg.ClientBase, tenant: string): Promise<string[]> {
  const { rows } = await client.query<{ record_id: string; text: string }>(
    `select r.record_id, ${storedText('r')} as text from hub.records r
     where r.tenant_id = $1 and r.record_type = 'telemetry_event' order by r.record_id`,
    [tenant],
  )
  return rows.map((row) => readText(clearTx, row.record_id, row.text))
}

/** Stores the texts of a tenant's telemetry events in full, so that a test can read or edit them by SQL. */
export async function storeEventsInFull(client: pg.ClientBase, tenant: string): Promise<void> {
  const texts = await eventTexts(client, tenant)
  await client.query(
    `update hub.records set canonical = t.text from unnest($2::text[]) as t (text)
     where tenant_id = $1 and record_id = (t.text::json->>'record_id')::uuid`,
    [tenant, texts],
  )
}
