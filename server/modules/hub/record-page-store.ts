import { sql } from 'kysely'
import { recordsAnswerBytesMax } from '../../../contract/limits.ts'
import type { RecordType } from '../../../contract/literals.ts'
import type { TenantTx } from '../../db/database.ts'
import type { PageRequest, RecordCriteria, StoredRecord } from './record-query-types.ts'
import { anyOf, type ReadableRecords, readableRecords, storedColumns } from './record-store.ts'

interface Page {
  records: StoredRecord[]
  hasMore: boolean
}

/**
 * Every order and every single filter has an index that gives its rows in order, so a page is read from there and
 * stops when it is full. The planner would rather sort all that is left whenever its statistics are old, or have not
 * seen the tenant yet, and then a page costs what the tenant has.
 */
const inIndexOrder = 'set local enable_sort = off'

/**
 * A page of records behind a position. It costs the same at any depth. It ends early where its records would be more
 * than one answer holds: PostgreSQL knows the length of a long text without reading it, and only what fits is sent.
 */
export async function findPage(tx: TenantTx, criteria: RecordCriteria, page: PageRequest): Promise<Page> {
  await tx.client.query(inIndexOrder)
  const direction = page.sort.startsWith('-') ? sql`desc` : sql`asc`
  const order = isByCost(page) ? sql`p.cost_rank ${direction}, p.record_id ${direction}` : sql`p.record_id ${direction}`
  const bytesUpToHere = sql`sum(octet_length(p.canonical)) over (order by ${order} rows unbounded preceding)`
  const fits = sql`${bytesUpToHere} - octet_length(p.canonical) < ${recordsAnswerBytesMax}`
  const rows = await tx.db
    // One more than asked for tells whether there is a next page.
    .selectFrom(rowsBehind(tx, criteria, page, page.limit + 1).as('p'))
    .select([
      'p.tenant_id',
      'p.record_id',
      'p.record_type',
      'p.created_by',
      'p.skill_id',
      'p.archetype_id',
      'p.user_id',
      'p.event_kind',
      'p.cost_micros',
      'p.seal_id',
      'p.leaf_index',
      'p.salt',
      'p.provenance_hash',
      'p.purged_at',
      'p.revision',
      sql<string | null>`case when ${fits} then p.canonical end`.as('canonical'),
    ])
    .orderBy(order)
    .execute()
  const isSent = (row: (typeof rows)[number]): row is StoredRecord => row.canonical !== null
  const records = rows.slice(0, page.limit).filter(isSent)
  return { records, hasMore: records.length < rows.length }
}

function isByCost(page: PageRequest): boolean {
  return page.sort.endsWith('cost_usd_estimate')
}

function rowsBehind(tx: TenantTx, criteria: RecordCriteria, page: PageRequest, limit: number) {
  const direction = page.sort.startsWith('-') ? 'desc' : 'asc'
  const beyond = direction === 'asc' ? '>' : '<'
  const { after } = page
  let query = matching(readableRecords(tx, page.now), criteria)
    .select(storedColumns)
    .select('r.cost_micros as cost_rank')
  if (isByCost(page)) {
    query = query.where('r.cost_micros', 'is not', null).orderBy('r.cost_micros', direction)
    if (after?.costMicros !== undefined) {
      query = query.where(
        sql<boolean>`(r.cost_micros, r.record_id) ${sql.raw(beyond)} (${after.costMicros}, ${after.recordId})`,
      )
    }
  } else if (after !== undefined) {
    query = query.where('r.record_id', beyond, after.recordId)
  }
  return query.orderBy('r.record_id', direction).limit(limit)
}

function matching(readable: ReadableRecords, criteria: RecordCriteria): ReadableRecords {
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
function ofTypes(query: ReadableRecords, types: readonly RecordType[] | undefined): ReadableRecords {
  if (types === undefined) return query
  return types.length === 1
    ? query.where('r.record_type', '=', types[0]!)
    : query.where('r.record_type', '=', anyOf(types))
}
