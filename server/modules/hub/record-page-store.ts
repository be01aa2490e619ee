import { recordsAnswerBytesMax } from '../../../contract/limits.ts'
import type { TenantTx } from '../../db/database.ts'
import type { AnsweredRecord, PageRequest, RecordCriteria, StoredRecord } from './record-query-types.ts'
import { lookUpPlace, lookUpState, recordColumns } from './record-sql-store.ts'
import { nameOfStatement } from './statement-names.ts'

interface Page<Row> {
  records: Row[]
  hasMore: boolean
}

/** Of the transaction of a page: every order and every single filter has an index that gives its rows in order. */
export const pageMode = { readOnly: true, inIndexOrder: true } as const

/**
 * A page of records behind a position, in a transaction of {@link pageMode}. It costs the same at any depth. It ends
 * early where its records would be more than one answer holds: PostgreSQL knows the length of a long text without
 * reading it, and only what fits is sent.
 */
export function findPage(tx: TenantTx, criteria: RecordCriteria, page: PageRequest): Promise<Page<AnsweredRecord>> {
  return readPage<AnsweredRecord>(tx, criteria, page, recordColumns.answered)
}

/** {@link findPage} with all that is stored of the records. */
export function findWholePage(tx: TenantTx, criteria: RecordCriteria, page: PageRequest): Promise<Page<StoredRecord>> {
  return readPage<StoredRecord>(tx, criteria, page, recordColumns.stored)
}

async function readPage<Row extends { canonical: string }>(
  tx: TenantTx,
  criteria: RecordCriteria,
  page: PageRequest,
  columns: (canonical: string) => string,
): Promise<Page<Row>> {
  const { text, values } = pageStatement(tx.tenantId, criteria, page, columns)
  const name = filtersOf(criteria).length > 1 ? undefined : nameOfStatement(text)
  const { rows } = await tx.client.query<Row | (Omit<Row, 'canonical'> & { canonical: null })>({
    text,
    values,
    ...(name ? { name } : {}),
  })
  const isSent = (row: (typeof rows)[number]): row is Row => row.canonical !== null
  const records = rows.slice(0, page.limit).filter(isSent)
  return { records, hasMore: records.length < rows.length }
}

function pageStatement(
  tenantId: string,
  criteria: RecordCriteria,
  page: PageRequest,
  columns: (canonical: string) => string,
) {
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
    select ${columns(`case when ${bytesBefore} < ${recordsAnswerBytesMax} then r.canonical end`)}
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

/** The values of columns that rows are to have. */
function filtersOf(criteria: RecordCriteria): [string, string][] {
  const filters: [string, string | undefined][] = [
    ['record_id', criteria.recordId],
    ['skill_id', criteria.skillId],
    ['archetype_id', criteria.archetypeId],
    ['user_id', criteria.userId],
    ['created_by', criteria.createdBy],
    ['event_kind', criteria.eventKind],
  ]
  return filters.filter((filter): filter is [string, string] => filter[1] !== undefined)
}

function criteriaConditions(criteria: RecordCriteria, parameter: (value: unknown) => string): string[] {
  const { recordTypes, fromId, beforeId } = criteria
  const conditions = filtersOf(criteria).map(([column, value]) => `r.${column} = ${parameter(value)}`)
  // As a list of one, the index on it would not give its records in order. It is named, one of six, because types
  // are of very different frequency: a plan for any type would not know which index to take.
  if (recordTypes?.length === 1) conditions.push(`r.record_type = '${recordTypes[0]}'`)
  else if (recordTypes !== undefined) conditions.push(`r.record_type = any(${parameter(recordTypes)}::text[])`)
  if (fromId !== undefined) conditions.push(`r.record_id >= ${parameter(fromId)}::uuid`)
  if (beforeId !== undefined) conditions.push(`r.record_id < ${parameter(beforeId)}::uuid`)
  if (!criteria.includePurged) conditions.push('s.purged_at is null')
  return conditions
}
