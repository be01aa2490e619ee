import { isJsonObject, type JsonObject } from '../../../provenance/json.ts'
import { cosignOf } from './record-cosign.ts'
import type { AnsweredRecord, StoredPlace } from './record-query-types.ts'
import type { Verification } from './verification-types.ts'

const closingBrace = 0x7d

/** Members that the answer adds to the canonical ones: a stored text that has any of them was edited. */
const addedMembers = ['is_purged', 'provenance_hash', 'provenance_cosign', 'verification']

export function provenanceHashOf({ provenance_hash }: Pick<StoredPlace, 'provenance_hash'>): string {
  return `sha256:${provenance_hash}`
}

/**
 * The record as the API answers it, in JSON: its stored canonical text, and behind its members those that are not
 * part of it. The text is parsed, not written anew: only so is it certain that the answer stays one JSON object,
 * whatever someone made of the text.
 */
export function responseText(tenantId: string, record: AnsweredRecord): string {
  return responseTextWith(tenantId, record, cosignOf(record))
}

/** {@link responseText}, given the cosignature. */
export function responseTextWith(tenantId: string, record: RecordText, cosign: string): string {
  const { canonical } = record
  const members = parseCanonical(canonical)
  const added = addedText(record, cosign)
  if (!isOfItsType(record, members)) return rewritten(tenantId, record, withoutContent(record, members), added)
  if (!isAnswerable(canonical, members)) return rewritten(tenantId, record, members, added)
  return `${canonical.slice(0, -1)},${added}}`
}

/**
 * Returns whether a text names the type of its row. Readers see some types only, by the column: somebody who edits it
 * must not make the Hub open the content of another type for them.
 *
 * @param members of {@link parseCanonical}
 */
export function isOfItsType({ record_type }: { record_type: string }, members: JsonObject | undefined): boolean {
  return members === undefined || members.record_type === record_type
}

/** Members of records of every type. */
const commonMembers = ['record_id', 'tenant_id', 'created_at', 'created_by', 'schema_version', 'related_records']

function withoutContent({ record_type }: { record_type: string }, members: JsonObject | undefined): JsonObject {
  const common = Object.entries(members ?? {}).filter(([name]) => commonMembers.includes(name))
  return { ...Object.fromEntries(common), record_type, content: 'unavailable' }
}

/** What of a stored record its answer is made of, besides the cosignature. */
type RecordText = Pick<AnsweredRecord, 'record_id' | 'record_type' | 'canonical' | 'purged_at' | 'provenance_hash'>

/**
 * Whether members may be added to the text behind its own, of which it needs one, so that a comma may follow, and
 * nothing behind the brace.
 *
 * @param members of {@link parseCanonical}
 */
export function isAnswerable(canonical: string, members: JsonObject | undefined): members is JsonObject {
  return (
    members !== undefined &&
    Object.hasOwn(members, 'record_id') &&
    canonical.charCodeAt(canonical.length - 1) === closingBrace &&
    !addedMembers.some((name) => Object.hasOwn(members, name))
  )
}

/** An answer with its verification as one more member. */
export function withVerification(answer: string, verification: Verification): string {
  return `${answer.slice(0, -1)},"verification":${JSON.stringify(verification)}}`
}

/** The canonical object, or undefined when the stored text is none. */
export function parseCanonical(canonical: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(canonical)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function addedText(record: RecordText, cosign: string): string {
  // Digits, letters, `-`, `_`, `:` and `.` are all that hash and cosignature have.
  return (
    `"is_purged":${record.purged_at !== null},"provenance_hash":"${provenanceHashOf(record)}",` +
    `"provenance_cosign":"${cosign}"`
  )
}

/** An edited text. One that was destroyed answers what the columns still say. */
function rewritten(
  tenantId: string,
  { record_id, record_type }: RecordText,
  members: JsonObject | undefined,
  added: string,
): string {
  const { verification: _edited, ...own } = members ?? { record_id, record_type, tenant_id: tenantId }
  return JSON.stringify({ ...own, ...JSON.parse(`{${added}}`) })
}
