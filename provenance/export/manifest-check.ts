import { fromBase64, toHex, utf8 } from '../bytes.ts'
import { canonicalize } from '../canonical.ts'
import { type Checkpoint, parseCheckpoint } from '../checkpoint.ts'
import { ProvenanceError } from '../errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { KeyRing, VerifierKey } from '../keys.ts'
import { isNoteSigned, parseNote } from '../note.ts'
import { type SyncAsyncTask, sha256Of } from '../sync-async-runner.ts'
import { type ExportManifest, exportStatementText } from './export-manifest.ts'

/** A manifest without its seals, which may be too many for memory. */
export type ManifestHead = Omit<ExportManifest, 'seals'>

/** The verified members of an element of `seals`. */
export type SealEntry =
  | { readonly kind: 'rows'; readonly sealId: string; readonly blinded: ReadonlyMap<number, Uint8Array> }
  | { readonly kind: 'note'; readonly note: string }
  | { readonly kind: 'lost'; readonly leaf: Uint8Array }

/**
 * Returns the members of a manifest that verification depends on, checked for their type.
 *
 * @param members as parsed, without `seals`
 * @throws ProvenanceError `manifest-malformed` with the pointer of the first missing or mistyped member
 */
export function manifestHeadIn(members: JsonObject): ManifestHead {
  const { manifest_version: version } = members
  if (version !== 1) throw malformed('/manifest_version', `is not 1, the only version that this verifier knows`)
  text(members, '/export/job_id')
  text(members, '/export/format', /^(jsonl|csv|parquet)$/)
  if (at(members, '/export/compression') !== null) text(members, '/export/compression', /^gzip$/)
  if (typeof at(members, '/export/include_provenance') !== 'boolean') {
    throw malformed('/export/include_provenance', 'is neither true nor false')
  }
  const omitted = at(members, '/export/content_omitted') ?? []
  if (!Array.isArray(omitted) || omitted.some((type) => typeof type !== 'string')) {
    throw malformed('/export/content_omitted', 'is not a list of types')
  }
  text(members, '/log/name')
  for (const pointer of ['/log/from', '/log/to', '/log/tree_size']) count(members, pointer)
  text(members, '/log/checkpoint')
  for (const pointer of ['/log/left', '/log/right']) hashes(members, pointer)
  text(members, '/file/name')
  text(members, '/file/sha256', /^[0-9a-f]{64}$/)
  for (const pointer of ['/file/size_bytes', '/file/rows', '/counts/exported', '/counts/left_out']) {
    count(members, pointer)
  }
  if (members.seals_sha256 !== undefined) text(members, '/seals_sha256', /^[0-9a-f]{64}$/)
  text(members, '/statement')
  return members as unknown as ManifestHead
}

/** Reads an element of `seals`. Throws ProvenanceError `manifest-malformed`. */
export function sealEntryIn(value: JsonValue, index: number): SealEntry {
  const pointer = `/seals/${index}`
  if (!isJsonObject(value)) throw malformed(pointer, 'is not an object')
  const names = Object.keys(value).join()
  if (names === 'note') return { kind: 'note', note: text(value, '/note') }
  if (names === 'leaf') return { kind: 'lost', leaf: hash(value.leaf!, `${pointer}/leaf`) }
  if (!/^(seal_id|seal_id,blinded|blinded,seal_id)$/.test(names)) throw malformed(pointer, 'is none of the three kinds')
  const sealId = text(value, '/seal_id', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const blinded = new Map<number, Uint8Array>()
  if (value.blinded === undefined) return { kind: 'rows', sealId, blinded }
  if (!isJsonObject(value.blinded)) throw malformed(`${pointer}/blinded`, 'is not an object')
  for (const [leafIndex, leaf] of Object.entries(value.blinded)) {
    if (!/^([0-9]|[1-5][0-9]|6[0-3])$/.test(leafIndex))
      throw malformed(`${pointer}/blinded`, 'has a name that is no index')
    blinded.set(Number(leafIndex), hash(leaf, `${pointer}/blinded/${leafIndex}`))
  }
  return { kind: 'rows', sealId, blinded }
}

/** The result of reading a manifest: its problems and its checkpoint. */
export type ManifestFindings = {
  readonly problems: readonly string[]
  /** The checkpoint; undefined if malformed or unsigned. */
  readonly checkpoint: Checkpoint | undefined
}

/**
 * Checks a manifest by itself: its signature, its checkpoint, and that its range fits into the log.
 *
 * @param members as for {@link manifestHeadIn}
 * @param seals their number, and SHA-256 of the JCS of each, each followed by \n; undefined without `seals`
 */
export function* checkManifest(
  members: JsonObject,
  keys: KeyRing,
  seals: { readonly count: number; readonly sha256: Uint8Array } | undefined,
): SyncAsyncTask<ManifestFindings> {
  const head = manifestHeadIn(members)
  const problems: string[] = []
  const { statement: _signed, seals: _seals, ...stated } = members
  const digest = toHex(yield* sha256Of(utf8(canonicalize(stated))))
  const ofLog = [...keys.values()].filter(({ name }) => name === head.log.name)
  const expected = exportStatementText(head.log.name, head.export.job_id, digest)
  const problem = yield* problemWithNote(head.statement, ofLog, (text) =>
    text === expected ? undefined : 'does not state what the manifest says: the manifest was changed',
  )
  if (problem !== undefined) problems.push(`manifest-statement: its signed statement ${problem}`)
  const checkpoint = yield* signedCheckpoint(head, ofLog, problems)
  const { from, to, tree_size: size } = head.log
  if (from > to || to > size) problems.push(`manifest-range: no log entries from ${from} to ${to} in a log of ${size}`)
  if (
    head.export.include_provenance !== (seals !== undefined) ||
    (head.seals_sha256 !== undefined) !== (seals !== undefined)
  ) {
    problems.push('manifest-seals: export.include_provenance, seals_sha256 and seals do not go together')
  } else if (seals !== undefined) {
    if (toHex(seals.sha256) !== head.seals_sha256)
      problems.push('manifest-seals: its seals do not have the stated hash')
    if (seals.count !== to - from) {
      problems.push(`manifest-seals: it has ${seals.count} seals, and the range ${to - from} log entries`)
    }
  }
  return { problems, checkpoint }
}

function* signedCheckpoint(
  { log }: ManifestHead,
  keys: readonly VerifierKey[],
  problems: string[],
): SyncAsyncTask<Checkpoint | undefined> {
  let checkpoint: Checkpoint
  try {
    checkpoint = parseCheckpoint(log.checkpoint)
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    problems.push(`checkpoint: ${error.message}`)
    return undefined
  }
  const problem = yield* problemWithNote(log.checkpoint, keys, () =>
    checkpoint.logName === log.name && checkpoint.treeSize === log.tree_size
      ? undefined
      : 'is of another log, or of another size of it',
  )
  if (problem === undefined) return checkpoint
  problems.push(`checkpoint: the checkpoint ${problem}`)
  return undefined
}

/** Checks that a note has the expected text and the signature of a trusted key of the log. */
export function* problemWithNote(
  source: string,
  keys: readonly VerifierKey[],
  problemWithText: (text: string) => string | undefined,
): SyncAsyncTask<string | undefined> {
  try {
    const note = parseNote(source)
    const problem = problemWithText(note.text)
    if (problem !== undefined) return problem
    return (yield* isNoteSigned(note, keys)) ? undefined : 'is not signed by a trusted key of the log'
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    return `cannot be read: ${error.message}`
  }
}

function at(members: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = members
  for (const name of pointer.slice(1).split('/')) {
    if (value === undefined || !isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

function text(members: JsonObject, pointer: string, pattern = /^/): string {
  const value = at(members, pointer)
  if (typeof value !== 'string' || !pattern.test(value)) throw malformed(pointer, 'is missing or not as it should be')
  return value
}

function count(members: JsonObject, pointer: string): void {
  const value = at(members, pointer)
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw malformed(pointer, 'is not a count')
}

function hashes(members: JsonObject, pointer: string): void {
  const value = at(members, pointer)
  if (!Array.isArray(value)) throw malformed(pointer, 'is not an array')
  for (const item of value as JsonValue[]) hash(item, pointer)
}

function hash(value: JsonValue, pointer: string): Uint8Array {
  try {
    const bytes = fromBase64(typeof value === 'string' ? value : '')
    if (bytes.length === 32) return bytes
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
  }
  throw malformed(pointer, 'has something that is not the base64 of 32 bytes')
}

function malformed(pointer: string, problem: string): ProvenanceError {
  return new ProvenanceError('manifest-malformed', `${pointer} of the manifest ${problem}`)
}
