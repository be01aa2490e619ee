import { usdOfMicros } from '../../../contract/money.ts'
import { supportedSchemaVersions } from '../../../provenance/index.ts'
import type { TenantTx } from '../../db/database.ts'
import { isErased } from '../../db/record-encryption.ts'
import { timeOfRecordId } from '../../records/record-clock.ts'
import type { AnsweredRecord, StoredRecord } from '../../records/record-rows.ts'
import { findLinks, findRecords, includingErasable } from '../../records/record-store.ts'

/**
 * Returns the rows with the remaining clear data as text, for each text whose key was destroyed. Such rows are for
 * responses only; verification requires the unchanged rows.
 */
export async function withUnavailable<Row extends AnsweredRecord>(
  tx: TenantTx,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const ids = rows.filter((row) => isErased(tx, row.canonical)).map((row) => row.record_id)
  if (ids.length === 0) return rows
  const stored = new Map((await findRecords(tx, ids, includingErasable)).map((row) => [row.record_id, row]))
  const links = await findLinks(tx, ids)
  return rows.map((row) => {
    const found = stored.get(row.record_id)
    const key = found && tx.contents.destroyedKeyOf(tx.tenantId, found.canonical)
    if (key === undefined) return row
    return { ...row, canonical: JSON.stringify(leftOf(found!, key.keyId, links.get(row.record_id) ?? [])) }
  })
}

/** Returns columns and links under the names of the members that they were copied from. */
function leftOf(row: StoredRecord, keyId: string, links: readonly string[]): Record<string, unknown> {
  const { record_id, record_type, tenant_id, created_by, skill_id, archetype_id, user_id, event_kind } = row
  const columns = { skill_id, archetype_id, user_id, event_kind, trace_id: row.trace_id, session_id: row.session_id }
  return {
    record_id,
    record_type,
    tenant_id,
    created_at: timeOfRecordId(record_id),
    created_by,
    schema_version: supportedSchemaVersions[0],
    related_records: links,
    ...Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== null)),
    ...(row.cost_micros === null ? {} : { cost_usd_estimate: usdOfMicros(Number(row.cost_micros)) }),
    content: 'unavailable',
    content_key_id: keyId,
  }
}
