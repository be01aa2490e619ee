import { equalBytes, toBase64, utf8 } from './bytes.ts'
import { canonicalize } from './canonical.ts'
import { type Cosign, decodeCosign } from './cosign.ts'
import { ProvenanceError, type ProvenanceErrorCode } from './errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
import type { KeyRing, VerifierKey } from './keys.ts'
import { inclusionRoot } from './merkle.ts'
import { parseRecordHash, recordHashInput } from './record-hash.ts'
import { leafHashInput, sealNoteText } from './seal.ts'
import {
  type AsyncCrypto,
  isSignedBy,
  runAsync,
  runSync,
  type SyncAsyncTask,
  type SyncCrypto,
  sha256Of,
} from './sync-async-runner.ts'

export const supportedSchemaVersions: readonly string[] = ['1.0']

/** Members of a response that are not part of the record's canonical text. */
export const unhashedMembers: readonly string[] = ['is_purged', 'provenance_hash', 'provenance_cosign', 'verification']

export type VerifyItem = {
  /** The canonical text, or the record as the API returns it. */
  readonly record: string | JsonObject
  /** The stored `provenance_hash`. */
  readonly hash: string
  /** The `provenance_cosign`. */
  readonly cosign: string
}

/** The checks that need only the record and the keys. The fourth check of the API, legal holds, needs the server. */
export type Checks = {
  readonly provenance_hash_matches: boolean
  readonly provenance_cosign_valid: boolean
  readonly schema_version_supported: boolean
}

export type FailureCode =
  | ProvenanceErrorCode
  | 'record-malformed'
  | 'record-not-canonical'
  | 'hash-mismatch'
  | 'content-unavailable'
  | 'key-unknown'
  | 'signature-invalid'
  | 'schema-version-unsupported'

export type Failure = { readonly check: keyof Checks; readonly code: FailureCode; readonly detail: string }

export type VerifyResult = {
  readonly verified: boolean
  readonly checks: Checks
  /** One entry for each failed check. */
  readonly failures: readonly Failure[]
}

/** Verifies one record. Never throws for the content of record, hash or cosign: that is a failed check. */
export function verifyRecordSync(input: VerifyItem & { readonly keys: KeyRing }, crypto: SyncCrypto): VerifyResult {
  return runSync(verification(input, input.keys, new Map()), crypto)
}

/** Works like {@link verifyRecordSync}, with WebCrypto. */
export function verifyRecord(
  input: VerifyItem & { readonly keys: KeyRing },
  crypto: AsyncCrypto,
): Promise<VerifyResult> {
  return runAsync(verification(input, input.keys, new Map()), crypto)
}

/** Verifies many records, in order. Records of one seal share one signature verification. */
export function verifyRecordsSync(items: Iterable<VerifyItem>, keys: KeyRing, crypto: SyncCrypto): VerifyResult[] {
  return runSync(verifications(items, keys), crypto)
}

/** Works like {@link verifyRecordsSync}, with WebCrypto. */
export function verifyRecords(
  items: Iterable<VerifyItem>,
  keys: KeyRing,
  crypto: AsyncCrypto,
): Promise<VerifyResult[]> {
  return runAsync(verifications(items, keys), crypto)
}

/** Returns hash and cosign of a record in an API response. Missing ones become empty and fail their checks. */
export function itemOfResponse(record: JsonObject): VerifyItem {
  const { provenance_hash: hash, provenance_cosign: cosign } = record
  return { record, hash: typeof hash === 'string' ? hash : '', cosign: typeof cosign === 'string' ? cosign : '' }
}

/** Results of signature checks made in this call, by all their inputs. */
type SignatureMemo = Map<string, boolean>

function* verifications(items: Iterable<VerifyItem>, keys: KeyRing): SyncAsyncTask<VerifyResult[]> {
  const memo: SignatureMemo = new Map()
  const results: VerifyResult[] = []
  for (const item of items) results.push(yield* verification(item, keys, memo))
  return results
}

function* verification(item: VerifyItem, keys: KeyRing, memo: SignatureMemo): SyncAsyncTask<VerifyResult> {
  const failures: Failure[] = []
  const record = checked(() => readRecord(item.record))
  const storedHash = checked(() => parseRecordHash(item.hash))
  const hashProblem = yield* problemWithHash(record, storedHash)
  // Uses the stored hash, to distinguish altered content from a forged cosignature.
  const cosignProblem = yield* problemWithCosign(item.cosign, storedHash, keys, memo)
  const versionProblem = problemWithVersion(record)
  if (hashProblem !== null) failures.push({ check: 'provenance_hash_matches', ...hashProblem })
  if (cosignProblem !== null) failures.push({ check: 'provenance_cosign_valid', ...cosignProblem })
  if (versionProblem !== null) failures.push({ check: 'schema_version_supported', ...versionProblem })
  return {
    verified: failures.length === 0,
    checks: {
      provenance_hash_matches: hashProblem === null,
      provenance_cosign_valid: cosignProblem === null,
      schema_version_supported: versionProblem === null,
    },
    failures,
  }
}

type Problem = { readonly code: FailureCode; readonly detail: string }

type Checked<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly problem: Problem }

type ReadRecord = {
  readonly canonical: string
  readonly schemaVersion: JsonValue | undefined
  /** The id of the destroyed key that made the content unreadable, from the response. */
  readonly lostKeyId?: string | undefined
}

function* problemWithHash(record: Checked<ReadRecord>, storedHash: Checked<Uint8Array>): SyncAsyncTask<Problem | null> {
  if (!record.ok) return record.problem
  if (!storedHash.ok) return storedHash.problem
  const { canonical, lostKeyId } = record.value
  const hash = yield* sha256Of(recordHashInput(canonical))
  if (equalBytes(hash, storedHash.value)) return null
  if (lostKeyId === undefined) return { code: 'hash-mismatch', detail: 'the record does not have the stored hash' }
  const detail = `the content is gone with the key ${lostKeyId}, as the answer says: its hash cannot be computed`
  return { code: 'content-unavailable', detail }
}

function* problemWithCosign(
  text: string,
  storedHash: Checked<Uint8Array>,
  keys: KeyRing,
  memo: SignatureMemo,
): SyncAsyncTask<Problem | null> {
  const cosign = checked(() => decodeCosign(text))
  if (!cosign.ok) return cosign.problem
  if (!storedHash.ok) return storedHash.problem
  const key = keys.get(cosign.value.keyId)
  if (key === undefined) return { code: 'key-unknown', detail: `no public key ${cosign.value.keyId}` }
  const { leafIndex, leafCount, salt, path } = cosign.value
  const leaf = yield* sha256Of(leafHashInput(salt, storedHash.value))
  const root = yield* inclusionRoot(leafIndex, leafCount, leaf, path)
  return (yield* isSealSigned(cosign.value, root, key, memo))
    ? null
    : { code: 'signature-invalid', detail: `key ${key.keyId} did not sign this hash in seal ${cosign.value.sealId}` }
}

function* isSealSigned(
  cosign: Cosign,
  root: Uint8Array,
  key: VerifierKey,
  memo: SignatureMemo,
): SyncAsyncTask<boolean> {
  const { sealId, leafCount, timeMicros, signature } = cosign
  const noteText = sealNoteText({ logName: key.name, sealId, leafCount, timeMicros, root })
  const memoKey = `${key.keyId} ${toBase64(signature)} ${noteText}`
  const known = memo.get(memoKey)
  if (known !== undefined) return known
  const isSigned = yield* isSignedBy(key.publicKey, utf8(noteText), signature)
  memo.set(memoKey, isSigned)
  return isSigned
}

function problemWithVersion(record: Checked<ReadRecord>): Problem | null {
  if (!record.ok) return record.problem
  const { schemaVersion } = record.value
  if (typeof schemaVersion === 'string' && supportedSchemaVersions.includes(schemaVersion)) return null
  return { code: 'schema-version-unsupported', detail: `schema_version is not ${supportedSchemaVersions.join(' or ')}` }
}

function readRecord(record: string | JsonObject): ReadRecord {
  if (typeof record === 'string') return readCanonicalText(record)
  const hashed = Object.fromEntries(Object.entries(record).filter(([member]) => !unhashedMembers.includes(member)))
  const key = ownMember(record, 'content_key_id')
  const lostKeyId = typeof key === 'string' && ownMember(record, 'content') === 'unavailable' ? key : undefined
  return { canonical: canonicalOf(hashed), schemaVersion: ownMember(record, 'schema_version'), lostKeyId }
}

function readCanonicalText(canonical: string): ReadRecord {
  let value: unknown
  try {
    value = JSON.parse(canonical)
  } catch {
    throw new RecordProblem('record-malformed', 'the record is not JSON')
  }
  if (!isJsonObject(value)) throw new RecordProblem('record-malformed', 'the record is not a JSON object')
  // Otherwise a reader that parses and serializes the response would compute another hash.
  if (canonicalOf(value) !== canonical) throw new RecordProblem('record-not-canonical', 'the text is not canonical')
  return { canonical, schemaVersion: ownMember(value, 'schema_version') }
}

function canonicalOf(record: JsonObject): string {
  try {
    return canonicalize(record)
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    throw new RecordProblem('record-malformed', error.message)
  }
}

function ownMember(object: JsonObject, member: string): JsonValue | undefined {
  return Object.hasOwn(object, member) ? object[member] : undefined
}

class RecordProblem extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Turns a problem of the input into a failed check; rethrows any other error, which is a bug. */
function checked<Value>(read: () => Value): Checked<Value> {
  try {
    return { ok: true, value: read() }
  } catch (error) {
    if (!(error instanceof ProvenanceError || error instanceof RecordProblem)) throw error
    return { ok: false, problem: { code: error.code, detail: error.message } }
  }
}
