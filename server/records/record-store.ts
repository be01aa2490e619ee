import { sql } from 'kysely'
import type { TenantTx } from '../db/database.ts'
import type { StoredPlace, StoredRecord, StoredSeal } from './record-rows.ts'
import { lookUpPlace, lookUpState, recordColumns } from './record-sql-store.ts'
import { readTexts, textBytes } from './stored-text.ts'

/**
 * Returns whole seals for verification. A seal has up to 64 records, and a page up to 1,000, so each seal is read once.
 */
export async function findSeals(tx: TenantTx, sealIds: readonly string[]): Promise<StoredSeal[]> {
  if (sealIds.length === 0) return []
  return tx.db
    .selectFrom('hub.seals')
    .select(['seal_id', 'key_id', 'leaves', 'upper_nodes', 'signature', sql<string>`sealed_at::text`.as('sealed_at')])
    .where('tenant_id', '=', tx.tenantId)
    .where('seal_id', '=', anyOf(sealIds))
    .execute()
}

/**
 * Passed as the time of a read, returns also records whose recovery period is over: events remain for as long as
 * something depends on them.
 */
export const includingErasable = '0001-01-01T00:00:00.000000Z'

/** Returns a record unless its recovery period is over. */
export async function findRecord(tx: TenantTx, recordId: string, now: string): Promise<StoredRecord | undefined> {
  const [record] = await findRecords(tx, [recordId], now)
  return record
}

/**
 * Returns the readable records among the ids, including purged ones, in id order. Includes records whose content was
 * destroyed with its key; see `isErased`.
 */
export async function findRecords(tx: TenantTx, recordIds: readonly string[], now: string): Promise<StoredRecord[]> {
  if (recordIds.length === 0) return []
  const { rows } = await tx.client.query<StoredRecord>(recordsByIds(recordColumns.all), [tx.tenantId, recordIds, now])
  readTexts(tx, rows)
  return rows
}

/** Returns the places of the readable records among the ids, without their texts. */
export async function findPlaces(tx: TenantTx, recordIds: readonly string[], now: string): Promise<StoredPlace[]> {
  if (recordIds.length === 0) return []
  const { rows } = await tx.client.query<StoredPlace>(recordsByIds(recordColumns.place), [tx.tenantId, recordIds, now])
  return rows
}

function recordsByIds(columns: string): string {
  return `
    select ${columns}
    from hub.records r ${lookUpState} ${lookUpPlace}
    where r.tenant_id = $1 and r.record_id = any($2::uuid[])
      and (s.hard_delete_after is null or s.hard_delete_after > $3::timestamptz)
    order by r.record_id`
}

/** Returns the approximate length in bytes of each record's canonical text, without reading it. */
export async function findSizes(tx: TenantTx, recordIds: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await tx.client.query<{ record_id: string; bytes: number }>(
    `select r.record_id, ${textBytes('r')} as bytes from hub.records r
     where r.tenant_id = $1 and r.record_id = any($2::uuid[])`,
    [tx.tenantId, recordIds],
  )
  return new Map(rows.map((row) => [row.record_id, row.bytes]))
}

/** Returns the ids that name a readable record. */
export async function findRecordIds(tx: TenantTx, recordIds: readonly string[], now: string): Promise<Set<string>> {
  if (recordIds.length === 0) return new Set()
  const { rows } = await tx.client.query<{ record_id: string }>(
    `select r.record_id from hub.records r ${lookUpState}
     where r.tenant_id = $1 and r.record_id = any($2::uuid[])
       and (s.hard_delete_after is null or s.hard_delete_after > $3::timestamptz)`,
    [tx.tenantId, recordIds, now],
  )
  return new Set(rows.map((row) => row.record_id))
}

/** Returns for each record the ids in its related_records, from the stored links. */
export async function findLinks(tx: TenantTx, recordIds: readonly string[]): Promise<Map<string, string[]>> {
  if (recordIds.length === 0) return new Map()
  const links = await tx.db
    .selectFrom('hub.record_links')
    .select(['from_id', 'to_id'])
    .where('tenant_id', '=', tx.tenantId)
    .where('from_id', '=', anyOf(recordIds))
    .execute()
  const targets = new Map<string, string[]>()
  for (const { from_id, to_id } of links) {
    const known = targets.get(from_id)
    if (known) known.push(to_id)
    else targets.set(from_id, [to_id])
  }
  return targets
}

/** Passes values as one array parameter, so that the statement is the same for any number of values. */
export function anyOf<Value extends string>(values: readonly Value[]) {
  return sql<Value>`any(${[...values]})`
}
