import { parseTimestamp } from './timestamp.ts'

/**
 * The typed columns of exports in CSV and Parquet: a column for each member that a canonical record of any type can
 * have. What is nested stands in them as JSON text.
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
  // Of every record.
  ...columns('text', 'record_id', 'record_type', 'tenant_id'),
  ...columns('timestamp', 'created_at'),
  ...columns('text', 'created_by', 'schema_version'),
  ...columns('json', 'related_records'),
  // Of several types.
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
]

/** Behind the typed ones, where the export has provenance. `canonical` is the text that is hashed. */
export const provenanceColumns = ['canonical', 'provenance_hash', 'provenance_cosign'] as const

/** Last, where the export was made with `verify`: whether the Hub found nothing wrong with the record. */
export const verifiedColumn = 'verified'

/** A timestamp is its text; bring it to what a format has with {@link microsOfTimestamp}. */
export type TypedValue = string | number | boolean | null

/**
 * What stands in a typed column for a record: null for a member that the record does not have, or that has another type,
 * as in a record that somebody edited.
 *
 * @param members of the canonical record
 */
export function typedValue({ name, type }: ExportColumn, members: Readonly<Record<string, unknown>>): TypedValue {
  // Names of columns are none of what every object has.
  const value = members[name]
  if (value === undefined) return null
  switch (type) {
    case 'text':
      return typeof value === 'string' ? value : null
    case 'timestamp':
      return typeof value === 'string' && parseTimestamp(value)?.text === value ? value : null
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
 * Microseconds since the epoch, as columns of Parquet have timestamps.
 *
 * @param text in the one form of timestamps: UTC, six fractional digits
 */
export function microsOfTimestamp(text: string): bigint {
  const time = parseTimestamp(text)
  if (time === undefined) throw new Error('not a timestamp')
  const micros = time.epochMs * 1000 + time.microsOfMs
  return Number.isSafeInteger(micros) ? BigInt(micros) : BigInt(time.epochMs) * 1000n + BigInt(time.microsOfMs)
}

/** What spreadsheets take for a formula, in either width, or skip to find one. */
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
