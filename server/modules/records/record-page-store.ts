import { recordsAnswerBytesMax } from '../../../contract/limits.ts'
import type { TenantTx } from '../../db/database.ts'
import { decryptRows } from '../../db/record-encryption.ts'
import type { AnsweredRecord, StoredRecord } from '../../records/record-rows.ts'
import { lookUpPlace, lookUpState, recordColumns } from '../../records/record-sql-store.ts'
import { nameOfStatement } from '../../records/statement-names.ts'
import { rowsOf } from './record-page-rows-store.ts'
import type { PageRequest, RecordCriteria } from './record-query-types.ts'

interface Page<Row> {
  records: Row[]
  hasMore: boolean
}

/** Transaction options of a page: every order and every single filter has an index that returns its rows in order. */
export const pageMode = { readOnly: true, inIndexOrder: true } as const

/**
 * Returns a page of records behind a position, in a transaction of {@link pageMode}. The cost is the same at any depth.
 * The page ends early if its records exceed the size of one response: PostgreSQL knows the length of a long text
 * without reading it, and sends only what fits.
 */
export function findPage(tx: TenantTx, criteria: RecordCriteria, page: PageRequest): Promise<Page<AnsweredRecord>> {
  return readPage<AnsweredRecord>(tx, criteria, page, recordColumns.answered)
}

/** Returns the same page as {@link findPage} with all stored columns of the records. */
export function findWholePage(tx: TenantTx, criteria: RecordCriteria, page: PageRequest): Promise<Page<StoredRecord>> {
  return readPage<StoredRecord>(tx, criteria, page, recordColumns.stored)
}

async function readPage<Row extends { record_id: string; canonical: string }>(
  tx: TenantTx,
  criteria: RecordCriteria,
  page: PageRequest,
  columns: (canonical: string) => string,
): Promise<Page<Row>> {
  const { text, values, isSteered } = pageStatement(tx.tenantId, criteria, page, columns)
  // A prepared statement's plan must suit any values. If the planner has a choice, it must see the values.
  const name = isSteered ? nameOfStatement(text) : undefined
  const { rows } = await tx.client.query<Row | (Omit<Row, 'canonical'> & { canonical: null })>({
    text,
    values,
    ...(name ? { name } : {}),
  })
  const isSent = (row: (typeof rows)[number]): row is Row => row.canonical !== null
  decryptRows(tx, rows)
  const records = rows.slice(0, page.limit).filter(isSent)
  return { records, hasMore: records.length < rows.length }
}

function pageStatement(
  tenantId: string,
  criteria: RecordCriteria,
  page: PageRequest,
  columns: (canonical: string) => string,
) {
  const { conditions, order, isSteered, values, parameter } = rowsOf(tenantId, criteria, page)
  const bytesBefore = `sum(octet_length(r.canonical)) over (order by ${order} rows unbounded preceding)
        - octet_length(r.canonical)`
  // One more row than requested shows whether there is a next page.
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
  return { text, values, isSteered }
}
