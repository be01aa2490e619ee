import { fromBase64, toHex, utf8 } from './bytes.ts'
import { canonicalize } from './canonical.ts'
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts'
import { verifyConsistencySteps } from './consistency.ts'
import { ProvenanceError } from './errors.ts'
import { problemWithNote } from './export/manifest-check.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
import type { KeyRing, VerifierKey } from './keys.ts'
import { type SyncAsyncTask, sha256Of } from './sync-async-runner.ts'

/** The files of an evidence pack behind its manifest, in the order of the archive; docs/evidence-packs.md specifies them. */
export const evidenceFiles = [
  'keys.json',
  'records.jsonl.manifest.json',
  'records.jsonl',
  'sign-ins.jsonl',
  'configuration.jsonl',
  'retention-changes.jsonl',
  'deletion-certificates.jsonl',
  'purged-records.jsonl',
  'holds.jsonl',
  'retention.json',
  'people.jsonl',
  'usage.json',
  'verification.json',
  'report.html',
] as const

/** A checkpoint of the log from before or after the period, and how the signed state of the pack continues it. */
export type LinkedCheckpoint = {
  readonly checkpoint: string
  /** PROOF of RFC 6962 §2.1.2 from the smaller tree to the one of `log.checkpoint`, in base64. */
  readonly consistency_path: readonly string[]
}

/** `manifest.json`, the first file of an evidence pack. */
export type EvidenceManifest = {
  readonly evidence_pack_version: 1
  readonly pack: {
    readonly job_id: string
    readonly tenant_id: string
    readonly created_at: string
    readonly created_by: string
    /** The period: RFC 3339, UTC; `to` is exclusive. */
    readonly from: string
    readonly to: string
    readonly note: string | null
    readonly include_content: boolean
  }
  readonly log: {
    readonly name: string
    /** The signed state when the pack was written. */
    readonly checkpoint: string
    /** Null if no checkpoint from before the period is stored. */
    readonly before: LinkedCheckpoint | null
    /** Null if `checkpoint` is the first one after the period. */
    readonly after: LinkedCheckpoint | null
  }
  readonly files: readonly { readonly name: string; readonly size_bytes: number; readonly sha256: string }[]
  /** A signed note over the JCS of all other members, see {@link evidenceStatementText}. */
  readonly statement: string
}

/** Returns the text to sign for a manifest. `sha256` is 64 hexadecimal digits. */
export function evidenceStatementText(logName: string, jobId: string, sha256: string): string {
  return `orghub/evidence-pack/v1\nlog ${logName}\npack ${jobId}\nmanifest ${sha256}\n`
}

/** Returns the manifest in a parsed document. Throws ProvenanceError `manifest-malformed`. */
export function evidenceManifestIn(json: JsonValue): EvidenceManifest {
  if (!isJsonObject(json) || json.evidence_pack_version !== 1) throw malformed('evidence_pack_version is not 1')
  const pack = objectAt(json, 'pack')
  const log = objectAt(json, 'log')
  for (const name of ['job_id', 'tenant_id', 'created_at', 'created_by', 'from', 'to']) text(pack, name)
  if (pack.note !== null) text(pack, 'note')
  if (typeof pack.include_content !== 'boolean') throw malformed('pack.include_content is neither true nor false')
  for (const name of ['name', 'checkpoint']) text(log, name)
  for (const name of ['before', 'after']) if (log[name] !== null) linked(objectAt(log, name))
  if (!Array.isArray(json.files)) throw malformed('files is not an array')
  for (const file of json.files) {
    if (!isJsonObject(file)) throw malformed('files has something that is not an object')
    text(file, 'name')
    if (!/^[0-9a-f]{64}$/.test(text(file, 'sha256'))) throw malformed('files has a sha256 that is no hash')
    if (!Number.isSafeInteger(file.size_bytes) || (file.size_bytes as number) < 0) {
      throw malformed('files has a size_bytes that is no size')
    }
  }
  text(json, 'statement')
  return json as unknown as EvidenceManifest
}

/** The result of checking the manifest of a pack. */
export type EvidenceFindings = {
  readonly problems: readonly string[]
  /** The number of entries in the log at the checkpoint from before the period; undefined without a valid one. */
  readonly sizeBefore: number | undefined
  /** The number of entries at the first checkpoint that was signed after the period; undefined without a valid one. */
  readonly sizeAfter: number | undefined
}

/**
 * Checks the manifest by itself: its signature, its list of files, and that its checkpoints enclose the period and
 * continue each other. Each problem is a code, a colon and a meaning.
 *
 * @param json the parsed document
 */
export function* checkEvidenceManifest(json: JsonObject, keys: KeyRing): SyncAsyncTask<EvidenceFindings> {
  const manifest = evidenceManifestIn(json)
  const { log, pack } = manifest
  const ofLog = [...keys.values()].filter(({ name }) => name === log.name)
  const problems: string[] = []
  const { statement, ...stated } = json
  const digest = toHex(yield* sha256Of(utf8(canonicalize(stated))))
  const expected = evidenceStatementText(log.name, pack.job_id, digest)
  const problem = yield* problemWithNote(String(statement), ofLog, (signed) =>
    signed === expected ? undefined : 'does not state what the manifest says: the manifest was changed',
  )
  if (problem !== undefined) problems.push(`pack-statement: its signed statement ${problem}`)
  const names = manifest.files.map(({ name }) => name)
  if (names.join('\n') !== evidenceFiles.join('\n')) {
    problems.push('pack-files: the manifest does not list the files of an evidence pack, each once and in order')
  }
  const check = new CheckpointCheck(log.name, ofLog, problems)
  const head = yield* check.signed(log.checkpoint, 'checkpoint')
  if (head === undefined) return { problems, sizeBefore: undefined, sizeAfter: undefined }
  const before = log.before && (yield* check.linked(log.before, head, 'before'))
  const after = log.after === null ? head : yield* check.linked(log.after, head, 'after')
  const [fromMicros, toMicros] = [microsIn(pack.from), microsIn(pack.to)]
  if (before && !((before.timeMicros ?? Number.POSITIVE_INFINITY) <= fromMicros)) {
    problems.push('checkpoint-before: the checkpoint from before the period was not signed before it')
  }
  if (after && !((after.timeMicros ?? -1) >= toMicros)) {
    problems.push('checkpoint-after: the checkpoint from after the period was not signed after it')
  }
  return { problems, sizeBefore: before?.treeSize, sizeAfter: after?.treeSize }
}

class CheckpointCheck {
  readonly #logName: string
  readonly #keys: readonly VerifierKey[]
  readonly #problems: string[]

  constructor(logName: string, keys: readonly VerifierKey[], problems: string[]) {
    this.#logName = logName
    this.#keys = keys
    this.#problems = problems
  }

  /** Returns a checkpoint that a key of the log signed. */
  *signed(note: string, which: string): SyncAsyncTask<Checkpoint | undefined> {
    const code = which === 'checkpoint' ? which : `checkpoint-${which}`
    let checkpoint: Checkpoint
    try {
      checkpoint = parseCheckpoint(note)
    } catch (error) {
      if (!(error instanceof ProvenanceError)) throw error
      this.#problems.push(`${code}: ${error.message}`)
      return undefined
    }
    const problem = yield* problemWithNote(note, this.#keys, () =>
      checkpoint.logName === this.#logName ? undefined : 'is of another log',
    )
    if (problem === undefined) return checkpoint
    this.#problems.push(`${code}: the checkpoint ${problem}`)
    return undefined
  }

  /** Returns a signed checkpoint that the head continues. */
  *linked(link: LinkedCheckpoint, head: Checkpoint, which: string): SyncAsyncTask<Checkpoint | undefined> {
    const checkpoint = yield* this.signed(link.checkpoint, which)
    if (checkpoint === undefined) return undefined
    if (checkpoint.treeSize === 0) return checkpoint
    const continues = yield* verifyConsistencySteps({
      firstSize: checkpoint.treeSize,
      secondSize: head.treeSize,
      firstRoot: checkpoint.root,
      secondRoot: head.root,
      path: link.consistency_path.map(hashIn),
    })
    if (continues) return checkpoint
    this.#problems.push(`checkpoint-${which}: the state of the log in the pack does not continue this checkpoint`)
    return undefined
  }
}

/** Returns the microseconds of a timestamp in UTC with six fractional digits; NaN for any other text. */
function microsIn(time: string): number {
  return /\.\d{6}Z$/.test(time) ? Date.parse(`${time.slice(0, 19)}Z`) * 1000 + Number(time.slice(20, 26)) : Number.NaN
}

function linked(link: JsonObject): void {
  text(link, 'checkpoint')
  if (!Array.isArray(link.consistency_path)) throw malformed('a consistency_path is not an array')
  for (const item of link.consistency_path) {
    if (typeof item !== 'string' || hashIn(item).length !== 32) throw malformed('a consistency_path has no hashes')
  }
}

function hashIn(base64: string): Uint8Array {
  return fromBase64(base64)
}

function objectAt(json: JsonObject, name: string): JsonObject {
  const value = json[name]
  if (value === undefined || !isJsonObject(value)) throw malformed(`${name} is not an object`)
  return value
}

function text(json: JsonObject, name: string): string {
  const value = json[name]
  if (typeof value !== 'string') throw malformed(`${name} is not a string`)
  return value
}

function malformed(problem: string): ProvenanceError {
  return new ProvenanceError('manifest-malformed', `the manifest of the evidence pack cannot be read: ${problem}`)
}
