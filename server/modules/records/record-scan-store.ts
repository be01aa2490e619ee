import { type EventFilter, matchesEvent } from '../../../contract/event-filter.ts'
import { scannedRecordsMax } from '../../../contract/limits.ts'
import type { TenantTx } from '../../db/database.ts'
import { ciphertextPrefix, isCiphertext } from '../../db/record-encryption.ts'
import { createEventLoopYielder } from '../../http/event-loop-yielder.ts'
import { parseCanonical } from '../../records/record-response.ts'
import { lookUpState } from '../../records/record-sql-store.ts'
import { placeInShortText, shortString, shortTextBeginning } from '../../records/short-text.ts'
import { readTexts, storedText } from '../../records/stored-text.ts'
import { positionOf, rowsOf } from './record-page-rows-store.ts'
import type { PagePosition, PageRequest, RecordCriteria } from './record-query-types.ts'

const scannedAtFirst = 200
const scannedAtOnce = 2500
/** Maximum bytes of texts that one statement, and all statements of a page, look through. Outputs can be large. */
const bytesMax = { atOnce: 4 * 1024 * 1024, ofPage: 12 * 1024 * 1024 }
/** A text that the service must decrypt counts as this many others. */
const ciphertextCost = 5

/**
 * Returns the ids of the next records that match by their texts, and the position behind which the next page begins.
 * Scans at most {@link scannedRecordsMax} records, so the page may be short, or empty.
 */
export async function scanForPage(
  tx: TenantTx,
  criteria: RecordCriteria,
  filter: EventFilter,
  page: PageRequest,
): Promise<{ ids: string[]; next: PagePosition | undefined }> {
  const ids: string[] = []
  const yieldIfLong = createEventLoopYielder()
  let { after } = page
  let last: PagePosition | undefined
  let [left, bytesLeft] = [scannedRecordsMax, bytesMax.ofPage]
  for (let size = Math.max(scannedAtFirst, page.limit + 1); left > 0 && bytesLeft > 0; size = scannedAtOnce) {
    const limit = Math.min(size, left)
    const rows = await scanRows(tx, criteria, filter, { ...page, after, limit })
    const end = rows.at(-1)
    if (end === undefined) return { ids, next: undefined }
    const isEncrypted = rows.some(({ canonical }) => canonical !== null && isCiphertext(canonical))
    readTexts(tx, rows)
    for (const row of rows) {
      const members = row.canonical === null ? undefined : parseCanonical(row.canonical)
      await yieldIfLong()
      if (members === undefined || !matchesEvent(filter, members)) continue
      // A match beyond the limit proves that a next page exists.
      if (ids.length === page.limit) return { ids, next: last }
      ids.push(row.record_id)
      last = positionOf(row, page.sort)
    }
    if (!end.has_more && end.place < limit) return { ids, next: undefined }
    after = positionOf(end, page.sort)
    left -= end.place * (isEncrypted ? ciphertextCost : 1)
    bytesLeft -= end.bytes
  }
  return { ids, next: after }
}

interface ScannedRow {
  record_id: string
  cost_micros: string | null
  /** Null in the last row if it cannot match. */
  canonical: string | null
  /** The number of rows up to this one, and the bytes of their texts. */
  place: number
  bytes: number
  /** Whether further rows were left out because of the bytes. Only the last row tells. */
  has_more: boolean
}

/**
 * Returns the rows that may match, and the last row that was looked at. PostgreSQL leaves out most other rows by a part
 * of their text. It knows the length of a long text without reading it.
 */
async function scanRows(
  tx: TenantTx,
  criteria: RecordCriteria,
  filter: EventFilter,
  page: PageRequest,
): Promise<ScannedRow[]> {
  const { conditions, order, values, parameter } = rowsOf(tx.tenantId, criteria, page)
  const mayMatch = `${eventTypes} and case when starts_with(r.canonical, '${shortTextBeginning}')
            then ${shortTextConditions(filter, parameter)} else ${textConditions(filter, parameter)} end`
  const limit = parameter(page.limit)
  const { rows } = await tx.client.query<ScannedRow>(
    `select r.record_id, r.cost_micros::text as cost_micros, r.canonical, r.place::integer as place,
      r.bytes::integer as bytes, r.has_more
    from (
      select r.record_id, r.cost_micros, r.place, r.bytes, r.bytes_before,
        r.is_end, not r.is_end and r.bytes >= ${bytesMax.atOnce} as has_more,
        case when r.bytes_before < ${bytesMax.atOnce}
          and (starts_with(r.canonical, '${ciphertextPrefix}') or (${mayMatch})) then ${storedText('r')} end as canonical
      from (
        select r.*, row_number() over page as place, lead(r.record_id) over page is null as is_end,
          sum(octet_length(r.canonical)) over page as bytes,
          sum(octet_length(r.canonical)) over page - octet_length(r.canonical) as bytes_before
        from (
          select r.* from hub.records r ${lookUpState}
          where ${conditions.join(' and ')}
          order by ${order} limit ${limit}
        ) r window page as (order by ${order} rows unbounded preceding)
      ) r offset 0
    ) r
    where r.bytes_before < ${bytesMax.atOnce}
      and (r.canonical is not null or r.is_end or r.bytes >= ${bytesMax.atOnce})
    order by r.place`,
    values,
  )
  return rows
}

const eventTypes = "r.record_type in ('telemetry_event', 'output')"
/** Texts are cut and compared without regular expressions over all of them, which would take most of the time. */
const latency = `lpad(split_part(substr(r.canonical, strpos(r.canonical, '"latency_ms":') + 13, 7), ',', 1), 6, '0')`
const padded = (ms: number) => String(ms).padStart(6, '0')
/** The beginning of the text of a telemetry event. No value in it could contain the name of a member. */
const beginning = `split_part(r.canonical, ',"created_at":', 1)`
const usdPattern = '^[0-9]{1,18}(?:[.][0-9]{1,6})?$'
const cost = `substring(coalesce(
  nullif(split_part(split_part(${beginning}, '"cost_usd_computed":', 2), ',', 1), ''),
  split_part(${beginning}, '"cost_usd_estimate":', 2)) from '${usdPattern}')::numeric`

/**
 * Returns conditions that every matching text meets. Names and values in a canonical text have one form each; a text
 * may contain them elsewhere, so the service compares the members of what remains.
 */
function textConditions(filter: EventFilter, parameter: (value: unknown) => string): string {
  const { success, latency_ms__gte, latency_ms__lte, cost_usd__gte, cost_usd__lte, ...exact } = filter
  const conditions = ['true']
  const contains = (part: string) => conditions.push(`strpos(r.canonical, ${parameter(part)}) > 0`)
  if (success !== undefined) contains(`"success":${success}`)
  for (const [name, value] of Object.entries(exact)) {
    if (value !== undefined) contains(`"${name}":${JSON.stringify(value)}`)
  }
  if (latency_ms__gte !== undefined) conditions.push(`${latency} >= ${parameter(padded(latency_ms__gte))} collate "C"`)
  if (latency_ms__lte !== undefined) conditions.push(`${latency} <= ${parameter(padded(latency_ms__lte))} collate "C"`)
  const ofCost = (operator: string, usd: number) =>
    conditions.push(`(r.record_type = 'output' or ${cost} ${operator} ${parameter(usd)}::numeric)`)
  if (cost_usd__gte !== undefined) ofCost('>=', cost_usd__gte)
  if (cost_usd__lte !== undefined) ofCost('<=', cost_usd__lte)
  return conditions.join(' and ')
}

/** Returns conditions that the short form of every matching text meets. */
function shortTextConditions(filter: EventFilter, parameter: (value: unknown) => string): string {
  const { success, latency_ms__gte, latency_ms__lte, cost_usd__gte, cost_usd__lte, ...exact } = filter
  const conditions = ['true']
  const shortValue = (name: string) => `split_part(r.canonical, e'\\t', ${1 + placeInShortText(name)})`
  const add = (left: string, operator: string, value: unknown) =>
    conditions.push(`${left} ${operator} ${parameter(value)}`)
  if (success !== undefined) add(shortValue('success'), '=', success ? '1' : '0')
  for (const [name, value] of Object.entries(exact)) {
    if (value !== undefined) add(shortValue(name), '=', shortString(value))
  }
  const latencyMs = `lpad(${shortValue('latency_ms')}, 6, '0') collate "C"`
  if (latency_ms__gte !== undefined) add(latencyMs, '>=', padded(latency_ms__gte))
  if (latency_ms__lte !== undefined) add(latencyMs, '<=', padded(latency_ms__lte))
  const costUsd = `coalesce(substring(${shortValue('cost_usd_computed')} from '${usdPattern}')::numeric, r.cost_micros / 1e6)`
  if (cost_usd__gte !== undefined) add(costUsd, '>=', cost_usd__gte)
  if (cost_usd__lte !== undefined) add(costUsd, '<=', cost_usd__lte)
  return conditions.join(' and ')
}
