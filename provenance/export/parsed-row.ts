import { equalBytes, utf8 } from '../bytes.ts'
import { canonicalize } from '../canonical.ts'
import { decodeCosign } from '../cosign.ts'
import { cosignBytes, decodeCosignInto } from '../cosign-bytes.ts'
import { duplicateMember } from '../duplicate-members.ts'
import { ProvenanceError } from '../errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { parseRecordHash, recordHashInput } from '../record-hash.ts'
import { type SyncAsyncTask, sha256Of } from '../sync-async-runner.ts'
import { itemOfResponse, supportedSchemaVersions, unhashedMembers } from '../verify.ts'

/** A parsed row and its problems so far. Its place in a seal is not yet checked. */
export type ParsedRow = {
  readonly recordId: string | null
  readonly isPurged: boolean
  /** True if the row has neither a hash nor a cosignature, as in exports without provenance. */
  readonly isPlain: boolean
  /** The stored hash and the binary cosignature, if both are well-formed. */
  readonly hash: Uint8Array | undefined
  readonly cosign: Uint8Array | undefined
  readonly problems: readonly string[]
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads the JSON of a record as the API returns it, with any whitespace and order of members.
 *
 * @param mayOmit the types whose rows may have the member `content_omitted`, and then only few others
 */
export function* parseRow(row: Uint8Array, mayOmit: readonly string[] = []): SyncAsyncTask<ParsedRow> {
  let text: string
  let value: JsonValue
  try {
    text = decoder.decode(row)
  } catch {
    return unreadable('the row is not UTF-8')
  }
  try {
    value = JSON.parse(text) as JsonValue
  } catch (error) {
    const at = /at position (\d+)/.exec(String(error))?.[1]
    return unreadable(`the row is not JSON${at === undefined ? '' : ` (at character ${Number(at) + 1})`}`)
  }
  if (!isJsonObject(value)) return unreadable('the row is not a JSON object')
  const twice = duplicateMember(text)
  // Readers differ in which of the two they use.
  if (twice !== undefined) return unreadable(`the member ${JSON.stringify(twice)} occurs twice`, value)
  return yield* parsedRecord(value, mayOmit)
}

/** Works like {@link parseRow}, for a record that is already parsed. */
export function* parsedRecord(record: JsonObject, mayOmit: readonly string[] = []): SyncAsyncTask<ParsedRow> {
  if (isPlainRow(record)) return plain(record)
  const item = itemOfResponse(record)
  const problems: string[] = []
  const hash = attempt(problems, () => parseRecordHash(item.hash))
  const cosign = attempt(problems, () => binaryCosign(item.cosign))
  if (isWithoutContent(record, mayOmit)) {
    return { recordId: idOf(record), isPurged: record.is_purged === true, isPlain: false, hash, cosign, problems }
  }
  const hashed = Object.fromEntries(Object.entries(record).filter(([member]) => !unhashedMembers.includes(member)))
  const input = attempt(problems, () => recordHashInput(canonicalize(hashed)))
  if (input !== undefined && hash !== undefined && !equalBytes(yield* sha256Of(input), hash)) {
    problems.push('hash-mismatch: the record does not have the stored hash')
  }
  problems.push(...problemsOfMembers(record))
  return { recordId: idOf(record), isPurged: record.is_purged === true, isPlain: false, hash, cosign, problems }
}

/** The members that a row without the content of its record may have. */
const membersWithoutContent = new Set([
  ...['content_omitted', 'record_id', 'record_type', 'tenant_id', 'created_at', 'created_by', 'skill_id'],
  ...['archetype_id', 'user_id', 'event_kind', 'trace_id', 'session_id', ...unhashedMembers],
])

function isWithoutContent(record: JsonObject, mayOmit: readonly string[]): boolean {
  return (
    record.content_omitted === true &&
    mayOmit.includes(String(record.record_type)) &&
    Object.keys(record).every((name) => membersWithoutContent.has(name))
  )
}

/** Reads a canonical text by itself; `record` is its value if it can be a record. */
export function* parseCanonical(
  canonical: string,
  hash: string,
  cosign: string,
): SyncAsyncTask<ParsedRow & { readonly record: JsonObject | undefined }> {
  let record: JsonValue
  try {
    record = JSON.parse(canonical) as JsonValue
  } catch {
    return { ...unreadable('the canonical text is not JSON'), record: undefined }
  }
  if (!isJsonObject(record)) return { ...unreadable('the canonical text is not a JSON object'), record: undefined }
  if (unhashedMembers.some((member) => Object.hasOwn(record, member))) {
    return { ...unreadable('the canonical text has members that are not part of one', record), record: undefined }
  }
  const parsed = yield* parsedRecord({ ...record, provenance_hash: hash, provenance_cosign: cosign })
  if (attempt([], () => canonicalize(record)) === canonical) return { ...parsed, record }
  // Otherwise a reader that parses and serializes the text would compute another hash.
  return { ...parsed, record, problems: ['record-not-canonical: the text is not canonical', ...parsed.problems] }
}

/** Returns the binary form of a cosignature. Throws ProvenanceError. */
export function binaryCosign(text: string): Uint8Array {
  const source = utf8(text)
  const binary = new Uint8Array(cosignBytes.lengthMax)
  const length = decodeCosignInto(source, 0, source.length, binary)
  if (length >= 0) return binary.subarray(0, length)
  decodeCosign(text)
  throw new ProvenanceError('cosign-malformed', 'the cosignature is not well-formed')
}

function problemsOfMembers(record: JsonObject): string[] {
  const problems: string[] = []
  const { schema_version: version, is_purged: isPurged, verification } = record
  if (typeof version !== 'string' || !supportedSchemaVersions.includes(version)) {
    problems.push(`schema-version-unsupported: schema_version is not ${supportedSchemaVersions.join(' or ')}`)
  }
  if (isPurged !== undefined && typeof isPurged !== 'boolean') {
    problems.push('record-malformed: is_purged is neither true nor false')
  }
  if (verification !== undefined && !isVerified(verification)) {
    problems.push('hub-verification: by its member "verification", the Hub itself found something wrong with it')
  }
  return problems
}

const checkNames = [
  'no_active_legal_hold_violation',
  'provenance_cosign_valid',
  'provenance_hash_matches',
  'schema_version_supported',
]

function isVerified(verification: JsonValue): boolean {
  if (!isJsonObject(verification) || verification.verified !== true || !isJsonObject(verification.checks ?? null)) {
    return false
  }
  const checks = verification.checks as JsonObject
  return (
    Object.keys(verification).length === 2 &&
    Object.keys(checks).sort().join() === checkNames.join() &&
    Object.values(checks).every((passed) => passed === true)
  )
}

/** The failure of a row without any provenance. */
export const noProvenance = 'no-provenance: the row has no hash and no cosignature'

function isPlainRow(record: JsonObject): boolean {
  return (
    idOf(record) !== null && !Object.hasOwn(record, 'provenance_hash') && !Object.hasOwn(record, 'provenance_cosign')
  )
}

function plain(record: JsonObject): ParsedRow {
  return {
    recordId: idOf(record),
    isPurged: record.is_purged === true,
    isPlain: true,
    hash: undefined,
    cosign: undefined,
    problems: [noProvenance, ...problemsOfMembers(record)],
  }
}

function idOf(record: JsonObject): string | null {
  return Object.hasOwn(record, 'record_id') && typeof record.record_id === 'string' ? record.record_id : null
}

function unreadable(detail: string, record?: JsonObject): ParsedRow {
  return {
    recordId: record === undefined ? null : idOf(record),
    isPurged: false,
    isPlain: false,
    hash: undefined,
    cosign: undefined,
    problems: [`record-malformed: ${detail}`],
  }
}

function attempt<Value>(problems: string[], read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    problems.push(`${error.code}: ${error.message}`)
    return undefined
  }
}
