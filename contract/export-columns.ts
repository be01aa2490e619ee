import { parseTimestamp } from './timestamp.ts'

/**
 * The typed columns of exports in CSV and Parquet: a column for each member that a canonical record of any type can
 * have. Nested values are JSON text.
 */

export type ColumnType = 'text' | 'timestamp' | 'integer' | 'number' | 'boolean' | 'json'

export interface ExportColumn {
  /** The member of the canonical record. */
  readonly name: string
  readonly type: ColumnType
}

const columns = (type: ColumnType, ...names: string[]): ExportColumn[] => names.map((name) => ({ name, type }))

/** In the order in which files have them; the columns of {@link provenanceColumns} follow. */
export const typedColumns: readonly ExportColumn[] = [
  // Columns of every record.
  ...columns('text', 'record_id', 'record_type', 'tenant_id'),
  ...columns('timestamp', 'created_at'),
  ...columns('text', 'created_by', 'schema_version'),
  ...columns('json', 'related_records'),
  // Columns of several types.
  ...columns('text', 'skill_id', 'skill_version', 'archetype_id', 'user_id', 'llm_platform', 'llm_model'),
  ...columns('number', 'cost_usd_estimate'),
  ...columns('text', 'title'),
  ...columns('json', 'content'),
  // output, artifact
  ...columns('text', 'content_type', 'media_type', 'uri', 'sha256'),
  ...columns('integer', 'size_bytes'),
  // decision
  ...columns('text', 'decision_id', 'decision_subject', 'decision_outcome', 'decision_rationale'),
  ...columns('text', 'decision_actor_role'),
  // governance_event
  ...columns('text', 'event_kind', 'subject'),
  ...columns('json', 'details'),
  // skill_definition
  ...columns('text', 'name', 'description', 'owner'),
  ...columns('json', 'manifest'),
  // telemetry_event
  ...columns('timestamp', 'ts'),
  ...columns('boolean', 'success'),
  ...columns('integer', 'latency_ms', 'tokens_in', 'tokens_out', 'tokens_total_reported'),
  ...columns('number', 'cost_usd_computed'),
  ...columns('text', 'price_source', 'error_code'),
  ...columns('json', 'metadata'),
  ...columns('text', 'trace_id', 'span_id', 'parent_span_id', 'session_id'),
]

/** Columns after the typed ones, if the export includes provenance. `canonical` is the text that is hashed. */
export const provenanceColumns = ['canonical', 'provenance_hash', 'provenance_cosign'] as const

/** Last, where the export was made with `verify`: whether the Hub found nothing wrong with the record. */
export const verifiedColumn = 'verified'

/** A timestamp is its text. */
export type TypedValue = string | number | boolean | null

/**
 * Returns the value of a typed column for a record: null for a member that is absent or of another type,
 * as in a record that somebody edited.
 *
 * @param members of the canonical record
 */
export function typedValue({ name, type }: ExportColumn, members: Readonly<Record<string, unknown>>): TypedValue {
  // No column has the name of a member of `Object.prototype`.
  const value = members[name]
  if (value === undefined) return null
  switch (type) {
    case 'text':
      return typeof value === 'string' ? value : null
    case 'timestamp':
      return typeof value === 'string' && microsOf(value) !== undefined ? value : null
    case 'integer':
      return Number.isSafeInteger(value) ? (value as number) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'json':
      return JSON.stringify(value)
  }
}

/**
 * Microseconds since the epoch, as columns of Parquet have timestamps; null where {@link typedValue} returns null.
 *
 * @param value of a member
 */
export function microsOfTimestamp(value: unknown): bigint | null {
  const micros = typeof value === 'string' ? microsOf(value) : undefined
  if (micros === undefined) return null
  if (Number.isSafeInteger(micros)) return BigInt(micros)
  // Past the year 2255 the sum is not exact.
  const { epochMs, microsOfMs } = parseTimestamp(value as string)!
  return BigInt(epochMs) * 1000n + BigInt(microsOfMs)
}

const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Parses a timestamp in UTC with six fractional digits. It is optimized, because each exported row has two. */
function microsOf(text: string): number | undefined {
  if (text.length !== 27 || text[4] !== '-' || text[7] !== '-' || text[10] !== 'T' || text[26] !== 'Z') return undefined
  if (text[13] !== ':' || text[16] !== ':' || text[19] !== '.') return undefined
  const year = digits(text, 0, 4)
  const month = digits(text, 5, 7)
  const day = digits(text, 8, 10)
  const hour = digits(text, 11, 13)
  const minute = digits(text, 14, 16)
  const second = digits(text, 17, 19)
  const fraction = digits(text, 20, 26)
  // NaN compares as false.
  const isTime = hour < 24 && minute < 60 && second < 60 && fraction >= 0
  if (!isTime || !(month >= 1 && month <= 12 && day >= 1 && day <= daysOfMonth[month - 1]!)) return undefined
  if (!(year >= 1) || (month === 2 && day === 29 && !isLeap(year))) return undefined
  // Two digits of a year would mean another one.
  const epochMs = Date.UTC(year + 400, month - 1, day, hour, minute, second) - msOf400Years
  return epochMs * 1000 + fraction
}

const msOf400Years = 146_097 * 86_400_000

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** Parses decimal digits. Returns NaN if a character is not a digit. */
function digits(text: string, from: number, to: number): number {
  let number = 0
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 0x30
    number = digit >= 0 && digit <= 9 ? number * 10 + digit : Number.NaN
  }
  return number
}

/** Matches characters that start a formula in spreadsheets, in either width, or that they skip before one. */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/**
 * The cell of a CSV file, before it is quoted. Text that a spreadsheet would execute begins with a quote. JSON text
 * cannot be a formula: it begins with a bracket, a quotation mark, a letter, or is a number.
 */
export function csvCell(type: ColumnType, value: TypedValue): string {
  if (value === null) return ''
  if (type === 'text' && formulaStart.test(value as string)) return `'${value}`
  return String(value)
}
