import { recordsResponseBytesMax } from '../../../contract/limits.ts'
import type { TenantTx } from '../../db/database.ts'
import type { AnsweredRecord, StoredRecord } from '../../records/record-rows.ts'
import { lookUpPlace, lookUpState, recordColumns } from '../../records/record-sql-store.ts'
import { nameOfStatement } from '../../records/statement-names.ts'
import { readTexts, storedText, textBytes } from '../../records/stored-text.ts'
import { positionOf, rowsOf } from './record-page-rows-store.ts'
import type { PagePosition, PageRequest, RecordCriteria } from './record-query-types.ts'
import { scanForPage } from './record-scan-store.ts'

interface Page<Row> {
  records: Row[]
  /** The position behind which the next page begins; undefined on the last page. */
  next: PagePosition | undefined
}

/** Transaction options of a page: every order and every single filter has an index that returns its rows in order. */
export const pageMode = { readOnly: true, inIndexOrder: true } as const

/**
 * Returns a page of records behind a position, in a transaction of {@link pageMode}. The cost is the same at any depth.
 * The page ends early if its records exceed the size of one response: PostgreSQL knows the length of a long text
 * without reading it, and sends only what fits. It also ends early if a filter of texts finds too few records.
 */
export function findPage(tx: TenantTx, criteria: RecordCriteria, page: PageRequest): Promise<Page<AnsweredRecord>> {
  return readPage<AnsweredRecord>(tx, criteria, page, recordColumns.answered)
}

/** Returns the same page as {@link findPage} with all stored columns of the records. */
export function findWholePage(tx: TenantTx, criteria: RecordCriteria, page: PageRequest): Promise<Page<StoredRecord>> {
  return readPage<StoredRecord>(tx, criteria, page, recordColumns.stored)
}

/** The statement of a page, with all its values. */
interface PageStatement {
  text: string
  values: unknown[]
  /** Whether values do not influence the plan. */
  isSteered: boolean
}

type PageRow = { record_id: string; canonical: string; cost_micros: string | null }

async function readPage<Row extends PageRow>(
  tx: TenantTx,
  criteria: RecordCriteria,
  page: PageRequest,
  columns: (canonical: string) => string,
): Promise<Page<Row>> {
  if (criteria.event === undefined) {
    const { records, isCut } = await readRows<Row>(tx, pageStatement(tx.tenantId, criteria, page, columns), page.limit)
    return { records, next: isCut ? positionOf(records.at(-1)!, page.sort) : undefined }
  }
  const { ids, next } = await scanForPage(tx, criteria, criteria.event, page)
  if (ids.length === 0) return { records: [], next }
  const { records, isCut } = await readRows<Row>(tx, statementOfIds(tx.tenantId, ids, columns), page.limit)
  return { records, next: isCut ? positionOf(records.at(-1)!, page.sort) : next }
}

async function readRows<Row extends PageRow>(tx: TenantTx, { text, values, isSteered }: PageStatement, limit: number) {
  // A prepared statement's plan must suit any values. If the planner has a choice, it must see the values.
  const name = isSteered ? nameOfStatement(text) : undefined
  const { rows } = await tx.client.query<Row | (Omit<Row, 'canonical'> & { canonical: null })>({
    text,
    values,
    ...(name ? { name } : {}),
  })
  const isSent = (row: (typeof rows)[number]): row is Row => row.canonical !== null
  readTexts(tx, rows)
  const records = rows.slice(0, limit).filter(isSent)
  return { records, isCut: records.length > 0 && records.length < rows.length }
}

/** Returns the statement of the records with the ids, in their order. */
function statementOfIds(tenantId: string, ids: readonly string[], columns: (canonical: string) => string) {
  const wanted = `
      select r.*, s.purged_at, s.revision, w.place
      from unnest($2::uuid[]) with ordinality as w (id, place)
      cross join lateral (
        select * from hub.records where tenant_id = $1 and record_id = w.id offset 0
      ) r ${lookUpState}`
  return { text: statementOf(wanted, 'r.place', columns), values: [tenantId, ids], isSteered: true }
}

function pageStatement(
  tenantId: string,
  criteria: RecordCriteria,
  page: PageRequest,
  columns: (canonical: string) => string,
): PageStatement {
  const { conditions, order, isSteered, values, parameter } = rowsOf(tenantId, criteria, page)
  // One more row than requested shows whether there is a next page.
  const rows = `
      select r.*, s.purged_at, s.revision
      from hub.records r ${lookUpState}
      where ${conditions.join('\n        and ')}
      order by ${order}
      limit ${parameter(page.limit + 1)}`
  return { text: statementOf(rows, order, columns), values, isSteered }
}

/** Returns the statement that adds the places in seals to rows, and the texts as far as they fit into a response. */
function statementOf(rows: string, order: string, columns: (canonical: string) => string): string {
  const bytesBefore = `sum(${textBytes('r')}) over (order by ${order} rows unbounded preceding)
        - ${textBytes('r')}`
  return `
    select ${columns(`case when ${bytesBefore} < ${recordsResponseBytesMax} then ${storedText('r')} end`)}
    from (${rows}
    ) r ${lookUpPlace}
    order by ${order}`
}
