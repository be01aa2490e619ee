import { eventFilterIn, eventFilterTypes, matchesEvent } from '../../../contract/event-filter.ts'
import type { ExportFilter } from '../../../contract/export-filter.ts'
import type { RecordFilter } from '../../../contract/record-filter.ts'
import type { TenantTx } from '../../db/database.ts'
import { isErased } from '../../db/record-encryption.ts'
import { recordIdFloorOf, timeOfRecordId } from '../../records/record-clock.ts'
import { parseCanonical } from '../../records/record-response.ts'
import type { SealedRow, StoredSeal } from '../../records/record-rows.ts'
import { lookUpState } from '../../records/record-sql-store.ts'
import { findSeals } from '../../records/record-store.ts'
import { nameOfStatement } from '../../records/statement-names.ts'
import { isPlainText, readJoinedText, readTexts, storedText, textBytes } from '../../records/stored-text.ts'
import type { LogEntry } from '../log/log-types.ts'
import type {
  LogIndexRange,
  RecordSelection,
  RecordsOfEntries,
  RowPosition,
  SelectedEntry,
  SelectedRows,
} from './sealed-records-types.ts'

/** Bytes of canonical text in one page. The record at the limit is sent whole. */
const pageBytesMax = 4 * 1024 * 1024
const separator = '\n'
const saltBytes = 16
/** The length of a hash in hexadecimal digits. */
const hashLength = 64

interface EntryRow {
  log_index: number
  seal_id: string
  key_id: string | null
  sealed_at: string | null
  leaves: Buffer | null
  upper_nodes: Buffer | null
  signature: Buffer | null
  /** Null if no record of the entry is selected. */
  records: number | null
  sent: number | null
  sound: boolean | null
  places: string | null
  salts: Buffer | null
  hashes: string | null
  texts: string | null
}

/**
 * Returns one row per entry, with the texts of its records joined by newlines, which canonical texts never contain.
 * Separate rows cost the service more than reading them costs the database. An entry whose edited texts cannot be split
 * again is not `sound`.
 */
export async function findSelectedEntries(
  tx: TenantTx,
  span: LogIndexRange,
  selection: RecordSelection,
): Promise<SelectedEntry[]> {
  const { conditions, values } = await conditionsOf(tx, span, selection)
  const shown = shownText(tx, selection, values)
  const text = `
    select e.log_index, e.seal_id, t.key_id, t.sealed_at, t.leaves, t.upper_nodes, t.signature,
      g.records, g.sent, g.sound, g.places, g.salts, g.hashes, g.texts
    from hub.log_entries e
    left join lateral (
      select key_id, sealed_at::text as sealed_at, leaves, upper_nodes, signature
      from hub.seals where tenant_id = $1 and seal_id = e.seal_id offset 0
    ) t on true
    left join (
      select log_index, count(*)::integer as records, (count(*) filter (where bytes_before < ${pageBytesMax}))::integer as sent,
        bool_and(octet_length(salt) = 16 and octet_length(provenance_hash) = 32) as sound,
        string_agg(leaf_index::text, ',' order by leaf_index, record_id) as places,
        string_agg(salt, '' order by leaf_index, record_id) as salts,
        encode(string_agg(provenance_hash, '' order by leaf_index, record_id), 'hex') as hashes,
        string_agg(case when bytes_before < ${pageBytesMax} then shown end, e'\\n' order by leaf_index, record_id) as texts
      from (${selectedRecords(conditions, `r.leaf_index, r.record_id, r.salt, r.provenance_hash, ${shown} as shown`)}) r
      group by log_index
    ) g on g.log_index = e.log_index
    where e.tenant_id = $1 and e.log_index >= $2 and e.log_index < $3
    order by e.log_index`
  const { rows } = await tx.client.query<EntryRow>({ text, values, ...named(text) })
  const cut = rows.findIndex(({ records, sent }) => records !== sent)
  return (cut < 0 ? rows : rows.slice(0, Math.max(1, cut))).map((row) =>
    withoutOthers(tx, withTimes(selectedEntry(row)), selection),
  )
}

/** Decrypts the texts, and omits those whose key was destroyed, and those that do not match the filter. */
function withoutOthers(tx: TenantTx, entry: SelectedEntry, { filter }: RecordSelection): SelectedEntry {
  const { texts } = entry
  const isMatch = textTest(filter)
  if (!texts?.canonical.some((text) => isMatch !== undefined || !isPlainText(text))) return entry
  const canonical = texts.canonical.map((text) => readJoinedText(tx, text))
  const kept = [...canonical.keys()].filter((at) => {
    const text = canonical[at]!
    return !isErased(tx, text) && (isMatch?.(text) ?? true)
  })
  return {
    ...entry,
    texts: {
      leafIndexes: kept.map((at) => texts.leafIndexes[at]!),
      canonical: kept.map((at) => canonical[at]!),
      salts: Buffer.concat(kept.map((at) => texts.salts.subarray(saltBytes * at, saltBytes * (at + 1)))),
      hashes: kept.map((at) => texts.hashes.slice(hashLength * at, hashLength * (at + 1))).join(''),
    },
  }
}

/** Returns the test of texts that a filter needs; undefined if columns decide. */
function textTest(filter: ExportFilter): ((canonical: string) => boolean) | undefined {
  const event = eventFilterIn(filter)
  return event && ((canonical) => matchesEvent(event, parseCanonical(canonical) ?? {}))
}

function selectedEntry(row: EntryRow): SelectedEntry {
  const { key_id, sealed_at, leaves, upper_nodes, signature } = row
  const isThere = key_id !== null && sealed_at !== null && leaves !== null && signature !== null
  const seal = isThere ? { seal_id: row.seal_id, key_id, sealed_at, leaves, upper_nodes, signature } : undefined
  const nothing = { leafIndexes: [], canonical: [], salts: new Uint8Array(0), hashes: '' }
  if (row.records === null) return { logIndex: row.log_index, seal, texts: nothing }
  const canonical = row.texts?.split(separator) ?? []
  const isSound = row.sound === true && row.sent === row.records && canonical.length === row.records
  const { salts, hashes } = row
  if (!isSound || salts === null || hashes === null) return { logIndex: row.log_index, seal, texts: undefined }
  const leafIndexes = row.places?.split(',').map(Number) ?? []
  return { logIndex: row.log_index, seal, texts: { leafIndexes, canonical, salts, hashes } }
}

const omittedBeginning = '{"content_omitted":true,'

/**
 * Returns the expression for the text of a record: its columns as JSON, without the time, if its content is left out.
 * JSON has no line breaks.
 */
function shownText(tx: TenantTx, { contentLeftOut }: RecordSelection, values: unknown[]): string {
  if (contentLeftOut === undefined) return storedText('r')
  const types = `$${values.push(contentLeftOut)}::text[]`
  const erased = `$${values.push(tx.contents.erasedBeginnings(tx.tenantId))}::text[]`
  return `case when r.record_type = any(${types}) or exists (select from unnest(${erased}) b (text) where starts_with(r.canonical, b.text))
    then json_strip_nulls(json_build_object('content_omitted', true, 'record_id', r.record_id, 'record_type', r.record_type,
      'tenant_id', r.tenant_id, 'created_by', r.created_by, 'skill_id', r.skill_id, 'archetype_id', r.archetype_id,
      'user_id', r.user_id, 'event_kind', r.event_kind, 'trace_id', r.trace_id, 'session_id', r.session_id))::text
    else ${storedText('r')} end`
}

/** Adds the time of creation, which the id has, to a text of {@link shownText}. */
function withTime(text: string): string {
  if (!text.startsWith(omittedBeginning)) return text
  const members = JSON.parse(text)
  return JSON.stringify({ ...members, created_at: timeOfRecordId(members.record_id) })
}

function withTimes(entry: SelectedEntry): SelectedEntry {
  const { texts } = entry
  return texts === undefined ? entry : { ...entry, texts: { ...texts, canonical: texts.canonical.map(withTime) } }
}

type FoundRow = Omit<SealedRow, 'canonical'> & { log_index: number; canonical: string | null }

export async function findSelectedRows(
  tx: TenantTx,
  span: LogIndexRange,
  selection: RecordSelection,
  after: RowPosition | undefined,
): Promise<SelectedRows> {
  const { conditions, values } = await conditionsOf(tx, span, selection)
  const shown = shownText(tx, selection, values)
  if (after) {
    const place = [after.logIndex, after.leafIndex, after.recordId].map((value) => `$${values.push(value)}`)
    conditions.push(
      `(x.log_index, leaf_index, record_id) > (${place[0]}::bigint, ${place[1]}::smallint, ${place[2]}::uuid)`,
    )
  }
  const text = `
    select log_index, record_id, encode(provenance_hash, 'hex') as provenance_hash, seal_id, leaf_index, record_type,
      cost_micros::text as cost_micros, tenant_id, created_by, skill_id, archetype_id, user_id, event_kind,
      trace_id, session_id, encode(salt, 'hex') as salt, case when bytes_before < ${pageBytesMax} then shown end as canonical,
      purged_at, revision
    from (${selectedRecords(conditions, `r.*, ${shown} as shown, s.revision, s.purged_at`)}) r
    order by log_index, leaf_index, record_id`
  const { rows } = await tx.client.query<FoundRow>({ text, values, ...named(text) })
  const isSent = (row: FoundRow): row is FoundRow & SealedRow => row.canonical !== null
  const sent = rows.filter(isSent)
  const last = sent.at(-1)
  readTexts(tx, sent)
  for (const row of sent) row.canonical = withTime(row.canonical)
  const isMatch = textTest(selection.filter)
  const sealIds = await findSealIds(tx, span)
  const seals = await findSeals(tx, [...sealIds.values()])
  return {
    rows: sent.filter(({ canonical }) => !isErased(tx, canonical) && (isMatch?.(canonical) ?? true)),
    seals: new Map(seals.map((seal: StoredSeal) => [seal.seal_id, seal])),
    sealIds,
    next:
      sent.length < rows.length && last
        ? { logIndex: last.log_index, leafIndex: last.leaf_index, recordId: last.record_id }
        : undefined,
  }
}

async function findSealIds(tx: TenantTx, { from, to }: LogIndexRange): Promise<Map<number, string>> {
  const { rows } = await tx.client.query<{ log_index: number; seal_id: string }>({
    name: 'hub_seals_of_span',
    text: `select log_index, seal_id from hub.log_entries
      where tenant_id = $1 and log_index >= $2 and log_index < $3 order by log_index`,
    values: [tx.tenantId, from, to],
  })
  return new Map(rows.map((row) => [row.log_index, row.seal_id]))
}

/**
 * Selects records of log entries. $1 is the tenant, $2 and $3 the range of the log. PostgreSQL knows the length of a
 * long text without reading it. Record ids of one seal are adjacent, so each seal is one short range of the primary
 * key.
 */
function selectedRecords(conditions: readonly string[], columns: string): string {
  const order = 'order by x.log_index, r.leaf_index, r.record_id'
  return `
        select x.log_index, ${columns},
          sum(${textBytes('r')}) over (${order} rows unbounded preceding) - ${textBytes('r')} as bytes_before
        from hub.log_entries x
        cross join lateral (
          select * from hub.records
          where tenant_id = $1 and record_id between x.first_id and x.last_id and seal_id = x.seal_id
            ${conditions.map((condition) => `and ${condition}`).join(' ')} offset 0
        ) r ${lookUpState}
        where x.tenant_id = $1 and x.log_index >= $2 and x.log_index < $3 and s.purged_at is null
        ${order}`
}

const filterColumns = [
  ...(['record_id', 'skill_id', 'archetype_id', 'user_id', 'created_by', 'event_kind'] as const),
  ...(['trace_id', 'session_id'] as const),
] as const

async function conditionsOf(tx: TenantTx, span: LogIndexRange, { filter, recordTypes, recordIds }: RecordSelection) {
  const { record_type: types, created_at__gte: from, created_at__lt: before } = filter
  const values: unknown[] = [tx.tenantId, span.from, span.to]
  const conditions: string[] = []
  const add = (condition: string, value: unknown) => conditions.push(`${condition} $${values.push(value)}`)
  for (const column of filterColumns) if (filter[column] !== undefined) add(`${column} =`, filter[column])
  const event = eventFilterIn(filter)
  const matching = event && eventFilterTypes(event)
  const isWanted = (type: string) =>
    [types, matching].every((some) => some === undefined || some.some((one) => one === type))
  conditions.push(`record_type = any($${values.push(recordTypes.filter(isWanted))}::text[])`)
  // An id contains the time of its record.
  if (from !== undefined) add('record_id >=', recordIdFloorOf(from))
  if (before !== undefined) add('record_id <', recordIdFloorOf(before))
  if (recordIds !== undefined) {
    conditions.push(`record_id = any($${values.push(await idsWithin(tx, span, recordIds))}::uuid[])`)
  }
  return { conditions, values }
}

/** Returns the ids that entries of the range can contain, so that no page compares its records with thousands. */
async function idsWithin(tx: TenantTx, { from, to }: LogIndexRange, ids: readonly string[]): Promise<string[]> {
  const { rows } = await tx.client.query<{ first: string | null; last: string | null }>({
    name: 'hub_ids_of_span',
    text: `select min(first_id::text) as first, max(last_id::text) as last from hub.log_entries
      where tenant_id = $1 and log_index >= $2 and log_index < $3`,
    values: [tx.tenantId, from, to],
  })
  const { first, last } = rows[0]!
  return first === null || last === null ? [] : ids.filter((id) => id >= first && id <= last)
}

/** Names a statement. Its text depends only on the columns of filters, so there are few texts. */
function named(text: string): { name?: string } {
  const name = nameOfStatement(text)
  return name === undefined ? {} : { name }
}

/**
 * Returns the range from the first entry whose seal is not older to the last that can contain a record from before the
 * end.
 */
export async function findSpan(
  tx: TenantTx,
  { created_at__gte: after, created_at__lt: before }: RecordFilter,
  treeSize: number,
): Promise<LogIndexRange> {
  const first = await tx.client.query<{ log_index: number }>({
    name: 'hub_log_from_time',
    text: `select log_index from hub.log_entries
      where tenant_id = $1 and log_index < $2 and ($3::uuid is null or seal_id >= $3::uuid) order by log_index limit 1`,
    values: [tx.tenantId, treeSize, after === undefined ? null : recordIdFloorOf(after)],
  })
  const last = await tx.client.query<{ log_index: number }>({
    name: 'hub_log_to_time',
    text: `select log_index from hub.log_entries
      where tenant_id = $1 and log_index < $2 and ($3::uuid is null or first_id < $3::uuid) order by log_index desc limit 1`,
    values: [tx.tenantId, treeSize, before === undefined ? null : recordIdFloorOf(before)],
  })
  // Without bounds, the range is the whole log, even if rows are missing.
  const from = after === undefined ? 0 : (first.rows[0]?.log_index ?? treeSize)
  const to = before === undefined ? treeSize : (last.rows[0]?.log_index ?? -1) + 1
  return { from: Math.min(from, treeSize), to: Math.max(from, to) }
}

export async function countLeaves(tx: TenantTx, { from, to }: LogIndexRange): Promise<number> {
  const { rows } = await tx.client.query<{ leaves: string | null }>({
    name: 'hub_leaves_of_span',
    text: `select sum(octet_length(s.leaves) / 32)::text as leaves
      from hub.log_entries e join hub.seals s on s.tenant_id = e.tenant_id and s.seal_id = e.seal_id
      where e.tenant_id = $1 and s.tenant_id = $1 and e.log_index >= $2 and e.log_index < $3`,
    values: [tx.tenantId, from, to],
  })
  return Number(rows[0]?.leaves ?? 0)
}

/**
 * Selects the records of seals. Record ids of one seal are adjacent, so each seal is one short range of the primary
 * key.
 */
const recordsOfSeals = `
  select r.record_id, encode(r.provenance_hash, 'hex') as provenance_hash, r.seal_id, r.leaf_index, r.record_type,
    r.cost_micros::text as cost_micros, r.tenant_id, r.created_by, r.skill_id, r.archetype_id, r.user_id, r.event_kind,
    r.trace_id, r.session_id, encode(r.salt, 'hex') as salt, ${storedText('r')} as canonical, s.purged_at, s.revision
  from unnest($2::uuid[], $3::uuid[], $4::uuid[]) with ordinality as e (seal_id, first_id, last_id, place)
  cross join lateral (
    select * from hub.records
    where tenant_id = $1 and record_id between e.first_id and e.last_id and seal_id = e.seal_id offset 0
  ) r ${lookUpState}
  order by e.place, r.leaf_index, r.record_id`

export async function findRecordsOfEntries(tx: TenantTx, entries: readonly LogEntry[]): Promise<RecordsOfEntries> {
  const { rows } = await tx.client.query<SealedRow>({
    name: 'hub_records_of_seals',
    text: recordsOfSeals,
    values: [
      tx.tenantId,
      entries.map((entry) => entry.sealId),
      entries.map((entry) => entry.firstId),
      entries.map((entry) => entry.lastId),
    ],
  })
  readTexts(tx, rows)
  const seals = await findSeals(
    tx,
    entries.map((entry) => entry.sealId),
  )
  return { records: rows, seals: new Map(seals.map((seal) => [seal.seal_id, seal])) }
}
