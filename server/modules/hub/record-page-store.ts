import { recordsAnswerBytesMax } from '../../../contract/limits.ts'
import type { TenantTx } from '../../db/database.ts'
import type { PageRequest, RecordCriteria, StoredRecord } from './record-query-types.ts'
import { lookUpPlace, lookUpState, placeColumns, recordColumns } from './record-sql-store.ts'

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
  const { text, values } = pageStatement(tx.tenantId, criteria, page)
  const { rows } = await tx.client.query<Omit<StoredRecord, 'canonical'> & { canonical: string | null }>(text, values)
  const isSent = (row: (typeof rows)[number]): row is StoredRecord => row.canonical !== null
  const records = rows.slice(0, page.limit).filter(isSent)
  return { records, hasMore: records.length < rows.length }
}

function pageStatement(tenantId: string, criteria: RecordCriteria, page: PageRequest) {
  const values: unknown[] = [tenantId]
  const parameter = (value: unknown) => `$${values.push(value)}`
  const direction = page.sort.startsWith('-') ? 'desc' : 'asc'
  const order = `${isByCost(page) ? `r.cost_micros ${direction}, ` : ''}r.record_id ${direction}`
  const conditions = [
    'r.tenant_id = $1',
    `(s.hard_delete_after is null or s.hard_delete_after > ${parameter(page.now)}::timestamptz)`,
    ...criteriaConditions(criteria, parameter),
    ...positionConditions(page, parameter),
  ]
  const bytesBefore = `sum(octet_length(r.canonical)) over (order by ${order} rows unbounded preceding)
        - octet_length(r.canonical)`
  // One more than asked for tells whether there is a next page.
  const text = `
    select ${recordColumns.pageOf(`case when ${bytesBefore} < ${recordsAnswerBytesMax} then r.canonical end`)}, ${placeColumns}
    from (
      select r.*, s.purged_at, s.revision
      from hub.records r ${lookUpState}
      where ${conditions.join('\n        and ')}
      order by ${order}
      limit ${parameter(page.limit + 1)}
    ) r ${lookUpPlace}
    order by ${order}`
  return { text, values }
}

function isByCost(page: PageRequest): boolean {
  return page.sort.endsWith('cost_usd_estimate')
}

function positionConditions(page: PageRequest, parameter: (value: unknown) => string): string[] {
  const beyond = page.sort.startsWith('-') ? '<' : '>'
  const { after } = page
  if (!isByCost(page)) return after ? [`r.record_id ${beyond} ${parameter(after.recordId)}::uuid`] : []
  const hasCost = 'r.cost_micros is not null'
  if (after?.costMicros === undefined) return [hasCost]
  const position = `(${parameter(after.costMicros)}::bigint, ${parameter(after.recordId)}::uuid)`
  return [hasCost, `(r.cost_micros, r.record_id) ${beyond} ${position}`]
}

/** One type is compared as a value, so that the index on it gives its records in order. */
function criteriaConditions(criteria: RecordCriteria, parameter: (value: unknown) => string): string[] {
  const { recordTypes, fromId, beforeId } = criteria
  const equal = [
    ['record_id', criteria.recordId],
    ['skill_id', criteria.skillId],
    ['archetype_id', criteria.archetypeId],
    ['user_id', criteria.userId],
    ['created_by', criteria.createdBy],
    ['event_kind', criteria.eventKind],
    ['record_type', recordTypes?.length === 1 ? recordTypes[0] : undefined],
  ] as const
  const conditions = equal.flatMap(([column, value]) =>
    value === undefined ? [] : [`r.${column} = ${parameter(value)}`],
  )
  if (recordTypes !== undefined && recordTypes.length !== 1) {
    conditions.push(`r.record_type = any(${parameter(recordTypes)}::text[])`)
  }
  if (fromId !== undefined) conditions.push(`r.record_id >= ${parameter(fromId)}::uuid`)
  if (beforeId !== undefined) conditions.push(`r.record_id < ${parameter(beforeId)}::uuid`)
  if (!criteria.includePurged) conditions.push('s.purged_at is null')
  return conditions
}
