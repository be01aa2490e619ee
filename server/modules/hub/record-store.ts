import { type SelectQueryBuilder, sql } from 'kysely'
import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import type { StoredRecord, StoredSeal } from './record-query-types.ts'

/** A seal has up to 64 records, and a page up to 1,000: each seal is read once. */
export async function findSeals(tx: TenantTx, sealIds: readonly string[]): Promise<Map<string, StoredSeal>> {
  if (sealIds.length === 0) return new Map()
  const seals = await tx.db
    .selectFrom('hub.seals')
    .select(['tenant_id', 'seal_id', 'key_id', 'leaves', 'signature', sql<string>`sealed_at::text`.as('sealed_at')])
    .where('tenant_id', '=', tx.tenantId)
    .where('seal_id', '=', anyOf(sealIds))
    .execute()
  return new Map(seals.map((seal) => [seal.seal_id, seal]))
}

/** A record that can still be read: one beyond its recovery buffer is not. */
export async function findRecord(tx: TenantTx, recordId: string, now: string): Promise<StoredRecord | undefined> {
  const [record] = await findRecords(tx, [recordId], now)
  return record
}

/** The records among the ids that can still be read, purged ones too, in the order of their ids. */
export function findRecords(tx: TenantTx, recordIds: readonly string[], now: string): Promise<StoredRecord[]> {
  if (recordIds.length === 0) return Promise.resolve([])
  return readableRecords(tx, now)
    .select(storedColumns)
    .where('r.record_id', '=', anyOf(recordIds))
    .orderBy('r.record_id')
    .execute()
}

/** Bytes of the canonical text of each record, without reading it. */
export async function findSizes(tx: TenantTx, recordIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.db
    .selectFrom('hub.records')
    .select(['record_id', sql<number>`octet_length(canonical)`.as('bytes')])
    .where('tenant_id', '=', tx.tenantId)
    .where('record_id', '=', anyOf(recordIds))
    .execute()
  return new Map(rows.map((row) => [row.record_id, row.bytes]))
}

/** Which of the ids name a record that can still be read. */
export async function findRecordIds(tx: TenantTx, recordIds: readonly string[], now: string): Promise<Set<string>> {
  if (recordIds.length === 0) return new Set()
  const rows = await readableRecords(tx, now)
    .select('r.record_id')
    .where('r.record_id', '=', anyOf(recordIds))
    .execute()
  return new Set(rows.map((row) => row.record_id))
}

/** The ids that each of the records names in related_records, as they are stored as links. */
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

/** Of {@link readableRecords}: all that a {@link StoredRecord} has. */
export const storedColumns = [
  'r.tenant_id',
  'r.record_id',
  'r.record_type',
  'r.created_by',
  'r.skill_id',
  'r.archetype_id',
  'r.user_id',
  'r.event_kind',
  sql<string | null>`r.cost_micros::text`.as('cost_micros'),
  'r.seal_id',
  'r.leaf_index',
  'r.salt',
  'r.provenance_hash',
  'r.canonical',
  's.purged_at',
  's.revision',
] as const

export type ReadableRecords = SelectQueryBuilder<
  {
    r: TenantTables['hub.records']
    s: {
      [Column in 'revision' | 'purged_at' | 'hard_delete_after']: TenantTables['hub.record_states'][Column] | null
    }
  },
  'r' | 's',
  // biome-ignore lint/complexity/noBannedTypes: nothing is selected yet
  {}
>

/**
 * Every record of the tenant but those whose recovery buffer is over; none of its columns is selected yet. OFFSET
 * keeps the look-up of a record's state a look-up, one per record that is read: as a plain join it may be planned as
 * a scan of the states of all records.
 */
export function readableRecords(tx: TenantTx, now: string): ReadableRecords {
  return tx.db
    .selectFrom('hub.records as r')
    .leftJoinLateral(
      (from) =>
        from
          .selectFrom('hub.record_states')
          .select(['revision', 'purged_at', 'hard_delete_after'])
          .where('hub.record_states.tenant_id', '=', tx.tenantId)
          .whereRef('hub.record_states.record_id', '=', 'r.record_id')
          .offset(0)
          .as('s'),
      (join) => join.onTrue(),
    )
    .where('r.tenant_id', '=', tx.tenantId)
    .where((where) => where.or([where('s.hard_delete_after', 'is', null), where('s.hard_delete_after', '>', now)]))
}

/** One array parameter, so that the statement is the same for any number of values. */
export function anyOf<Value extends string>(values: readonly Value[]) {
  return sql<Value>`any(${[...values]})`
}
