import { type SelectQueryBuilder, sql } from 'kysely'
import type { RecordType } from '../../../contract/literals.ts'
import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import type { PageRequest, RecordCriteria, StoredRecord, StoredSeal } from './record-query-types.ts'

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

/** Which of the ids name a record that can still be read. */
export async function findRecordIds(tx: TenantTx, recordIds: readonly string[], now: string): Promise<Set<string>> {
  if (recordIds.length === 0) return new Set()
  const rows = await readableRecords(tx, now)
    .select('r.record_id')
    .where('r.record_id', '=', anyOf(recordIds))
    .execute()
  return new Set(rows.map((row) => row.record_id))
}

/**
 * Every order and every single filter has an index that gives its rows in order, so a page is read from there and
 * stops when it is full. The planner would rather sort all that is left whenever its statistics are old, or have not
 * seen the tenant yet, and then a page costs what the tenant has.
 */
const inIndexOrder = 'set local enable_sort = off'

/** A page of records behind a position. It costs the same at any depth. */
export async function findPage(tx: TenantTx, criteria: RecordCriteria, page: PageRequest): Promise<StoredRecord[]> {
  await tx.client.query(inIndexOrder)
  const direction = page.sort.startsWith('-') ? 'desc' : 'asc'
  const beyond = direction === 'asc' ? '>' : '<'
  const { after } = page
  let query = matching(readableRecords(tx, page.now), criteria).select(storedColumns)
  if (page.sort.endsWith('cost_usd_estimate')) {
    query = query.where('r.cost_micros', 'is not', null).orderBy('r.cost_micros', direction)
    if (after?.costMicros !== undefined) {
      query = query.where(
        sql<boolean>`(r.cost_micros, r.record_id) ${sql.raw(beyond)} (${after.costMicros}, ${after.recordId})`,
      )
    }
  } else if (after !== undefined) {
    query = query.where('r.record_id', beyond, after.recordId)
  }
  return query.orderBy('r.record_id', direction).limit(page.limit).execute()
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
  for (const { from_id, to_id } of links) targets.set(from_id, [...(targets.get(from_id) ?? []), to_id])
  return targets
}

const storedColumns = [
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

type Readable = SelectQueryBuilder<
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
function readableRecords(tx: TenantTx, now: string): Readable {
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

function matching(readable: Readable, criteria: RecordCriteria): Readable {
  let query = readable
  const equal = {
    'r.record_id': criteria.recordId,
    'r.skill_id': criteria.skillId,
    'r.archetype_id': criteria.archetypeId,
    'r.user_id': criteria.userId,
    'r.created_by': criteria.createdBy,
    'r.event_kind': criteria.eventKind,
  } as const
  for (const column of Object.keys(equal) as (keyof typeof equal)[]) {
    const value = equal[column]
    if (value !== undefined) query = query.where(column, '=', value)
  }
  if (criteria.fromId !== undefined) query = query.where('r.record_id', '>=', criteria.fromId)
  if (criteria.beforeId !== undefined) query = query.where('r.record_id', '<', criteria.beforeId)
  if (!criteria.includePurged) query = query.where('s.purged_at', 'is', null)
  return ofTypes(query, criteria.recordTypes)
}

/** One type is compared as a value, so that the index on it gives its records in order. */
function ofTypes(query: Readable, types: readonly RecordType[] | undefined): Readable {
  if (types === undefined) return query
  return types.length === 1
    ? query.where('r.record_type', '=', types[0]!)
    : query.where('r.record_type', '=', anyOf(types))
}

/** One array parameter, so that the statement is the same for any number of values. */
function anyOf<Value extends string>(values: readonly Value[]) {
  return sql<Value>`any(${[...values]})`
}
