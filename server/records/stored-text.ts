import type { TenantTx } from '../db/database.ts'
import { isCiphertext } from '../db/record-encryption.ts'
import { restoreText, type ShortTextColumns, separator, shortTextBeginning } from './short-text.ts'

/**
 * Reads canonical texts from `hub.records.canonical`. It has the canonical text, or its short form (see
 * `short-text.ts`), and in Mode B one of them encrypted.
 */

/** The columns that {@link storedText} adds, in the order in which {@link columnsOf} reads them. */
const addedColumns = [
  ...['record_id', 'tenant_id', 'created_by', 'skill_id', 'archetype_id', 'user_id', 'cost_micros', 'trace_id'],
  'session_id',
]

/**
 * Returns the SQL of a record's stored text. To a text that is not in clear it adds the columns from which
 * {@link readText} restores a short text, each behind a tab.
 *
 * @param r the alias of hub.records
 */
export function storedText(r: string): string {
  const added = addedColumns.map((column) =>
    // A session id may contain separators. Its text is encrypted in full then, and needs no columns.
    column === 'session_id' ? `e'\\t', translate(${r}.session_id, e'\\t\\n', '')` : `e'\\t', ${r}.${column}`,
  )
  return `case when ${r}.record_type = 'telemetry_event' and not starts_with(${r}.canonical, '{')
      then concat(${r}.canonical, ${added.join(', ')}) else ${r}.canonical end`
}

/** Bytes by which a canonical text of usual length exceeds its short form. */
const shortenedBytes = 512

/**
 * Returns the SQL of the approximate length of a canonical text in bytes. PostgreSQL knows the length of a long text
 * without reading it.
 */
export function textBytes(r: string): string {
  return `(octet_length(${r}.canonical) + case when ${r}.record_type = 'telemetry_event' then ${shortenedBytes} else 0 end)`
}

/** Returns whether a stored text is the canonical text itself. */
export function isPlainText(stored: string): boolean {
  return stored.startsWith('{')
}

/**
 * Returns the canonical text for a {@link storedText}. Returns the stored text, in which the record's hash is not to be
 * found, if it is damaged or its key does not decrypt it.
 *
 * @throws FetchRequiredError if a key must be fetched before
 */
export function readText(tx: TenantTx, recordId: string, stored: string): string {
  return readStored(stored, (text) => tx.contents.decrypt(tx.tenantId, recordId, text))
}

/** Reads the text of one of several joined rows (see `RecordContents.openJoined`). */
export function readJoinedText(tx: TenantTx, stored: string): string {
  return readStored(stored, (text) => tx.contents.openJoined(tx.tenantId, text))
}

/** Applies {@link readText} in place to rows with these names for id and text. */
export function readTexts<Row extends { record_id: string; canonical: string | null }>(
  tx: TenantTx,
  rows: readonly Row[],
): void {
  for (const row of rows) if (row.canonical !== null) row.canonical = readText(tx, row.record_id, row.canonical)
}

function readStored(stored: string, decrypt: (text: string) => string): string {
  if (stored.startsWith(shortTextBeginning)) return restored(stored, stored)
  if (!isCiphertext(stored)) return stored
  const end = stored.indexOf(separator)
  const [text, added] = end < 0 ? [stored, ''] : [stored.slice(0, end), stored.slice(end)]
  const decrypted = decrypt(text)
  return decrypted.startsWith(shortTextBeginning) ? restored(`${decrypted}${added}`, text) : decrypted
}

/** Without columns behind it, a damaged text would be read as its own columns. */
const recordIdForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function restored(stored: string, damaged: string): string {
  const values = stored.split(separator)
  const added = values.splice(-addedColumns.length)
  return recordIdForm.test(added[0] ?? '') ? (restoreText(values, columnsOf(added)) ?? damaged) : damaged
}

/** Reads the added columns. No value of them is empty, so an empty text stands for null. */
function columnsOf(values: readonly string[]): ShortTextColumns {
  const [recordId = '', tenantId = '', createdBy = '', skillId, archetypeId, userId, cost, traceId, sessionId] = values
  return {
    ...{ recordId, tenantId, createdBy, skillId: skillId || null, archetypeId: archetypeId || null },
    ...{ userId: userId || null, costMicros: cost ? Number(cost) : null },
    ...{ traceId: traceId || null, sessionId: sessionId || null },
  }
}
