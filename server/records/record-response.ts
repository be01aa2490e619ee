import { isJsonObject, type JsonObject } from '../../provenance/json.ts'
import { cosignOf } from './record-cosign.ts'
import type { AnsweredRecord, StoredPlace } from './record-rows.ts'

const closingBrace = 0x7d

/** The members that a response adds to the canonical ones. A stored text that contains any of them was edited. */
const addedMembers = ['is_purged', 'provenance_hash', 'provenance_cosign', 'verification']

export function provenanceHashOf({ provenance_hash }: Pick<StoredPlace, 'provenance_hash'>): string {
  return `sha256:${provenance_hash}`
}

/**
 * Returns the record as JSON in its API form: its stored canonical text with the additional members appended. Parses
 * the text but does not re-serialize it. This guarantees that the response is one JSON object, regardless of edits to
 * the text.
 */
export function responseText(tenantId: string, record: AnsweredRecord): string {
  return responseTextWith(tenantId, record, cosignOf(record))
}

/** Returns {@link responseText} with the given cosignature. */
export function responseTextWith(tenantId: string, record: RecordText, cosign: string): string {
  const { canonical } = record
  const members = parseCanonical(canonical)
  const added = addedText(record, cosign)
  if (!isOfItsType(record, members)) return rewritten(tenantId, record, withoutContent(record, members), added)
  if (!isAnswerable(canonical, members)) return rewritten(tenantId, record, members, added)
  return `${canonical.slice(0, -1)},${added}}`
}

/**
 * Returns whether a text names the type of its row. Scopes restrict types by the column, so editing the column must not
 * reveal content of another type.
 *
 * @param members the result of {@link parseCanonical}
 */
export function isOfItsType({ record_type }: { record_type: string }, members: JsonObject | undefined): boolean {
  return members === undefined || members.record_type === record_type
}

/** The members of records of every type. */
const commonMembers = ['record_id', 'tenant_id', 'created_at', 'created_by', 'schema_version', 'related_records']

function withoutContent({ record_type }: { record_type: string }, members: JsonObject | undefined): JsonObject {
  const common = Object.entries(members ?? {}).filter(([name]) => commonMembers.includes(name))
  return { ...Object.fromEntries(common), record_type, content: 'unavailable' }
}

/** The parts of a stored record that its response needs, besides the cosignature. */
type RecordText = Pick<AnsweredRecord, 'record_id' | 'record_type' | 'canonical' | 'purged_at' | 'provenance_hash'>

/**
 * Returns whether members may be appended to the text. It needs a member of its own, so that a comma may follow, and
 * nothing behind the brace.
 *
 * @param members the result of {@link parseCanonical}
 */
export function isAnswerable(canonical: string, members: JsonObject | undefined): members is JsonObject {
  return (
    members !== undefined &&
    Object.hasOwn(members, 'record_id') &&
    canonical.charCodeAt(canonical.length - 1) === closingBrace &&
    !addedMembers.some((name) => Object.hasOwn(members, name))
  )
}

/** Returns the canonical object, or undefined if the stored text is not one. */
export function parseCanonical(canonical: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(canonical)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function addedText(record: RecordText, cosign: string): string {
  // Hash and cosignature contain only digits, letters, `-`, `_`, `:` and `.`.
  return (
    `"is_purged":${record.purged_at !== null},"provenance_hash":"${provenanceHashOf(record)}",` +
    `"provenance_cosign":"${cosign}"`
  )
}

/** Re-serializes an edited text. For an unparsable text, returns the values of the columns. */
function rewritten(
  tenantId: string,
  { record_id, record_type }: RecordText,
  members: JsonObject | undefined,
  added: string,
): string {
  const { verification: _edited, ...own } = members ?? { record_id, record_type, tenant_id: tenantId }
  return JSON.stringify({ ...own, ...JSON.parse(`{${added}}`) })
}
