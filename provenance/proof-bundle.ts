import { concatBytes, fromBase64, toBase64, utf8 } from './bytes.ts'
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts'
import { verifyConsistencySteps } from './consistency.ts'
import { type Cosign, decodeCosign } from './cosign.ts'
import { ProvenanceError } from './errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
import { succession } from './key-succession.ts'
import { type KeyRing, keyRingIn } from './keys.ts'
import { sealNote } from './log.ts'
import { inclusionRoot } from './merkle.ts'
import {
  isCount,
  isPath,
  type Problem,
  type ProofFailure,
  type ProofResult,
  problemWithPath,
  problemWithSignature,
  proofResult,
  readOrProblem,
} from './proof-steps.ts'
import { parseRecordHash } from './record-hash.ts'
import { leafHashInput } from './seal.ts'
import {
  type AsyncCrypto,
  runAsync,
  runSync,
  type SyncAsyncTask,
  type SyncCrypto,
  sha256Of,
} from './sync-async-runner.ts'
import { type Checks, unhashedMembers, type VerifyResult, verifyRecords, verifyRecordsSync } from './verify.ts'

/** The version of {@link ProofBundle}. */
export const proofBundleVersion = 1

/**
 * The response of `GET /api/v1/hub/records/{id}/proof-bundle`: a record with everything that proves it offline. Hashes
 * are in base64. docs/verification.md explains what it proves.
 */
export type ProofBundle = {
  readonly bundle_version: typeof proofBundleVersion
  /** The record as the API returns it. */
  readonly record: JsonObject
  readonly provenance_hash: string
  readonly provenance_cosign: string
  readonly seal: {
    readonly seal_id: string
    readonly leaf_index: number
    readonly leaf_count: number
    /** The whole signed note of the seal. */
    readonly note: string
  }
  readonly inclusion_proof: {
    readonly log_index: number
    readonly tree_size: number
    /** SHA-256(0x00 ‖ note of the seal). */
    readonly leaf_hash: string
    /** The path from the seal up to the root of the log. */
    readonly path: readonly string[]
  }
  /** The signed note of the log with `tree_size` leaves. */
  readonly checkpoint: string
  /** An earlier state of the log that the checkpoint continues. */
  readonly consistency_from?: EarlierState
  /** The keys of the log, in the form of the published key document. */
  readonly public_keys: readonly JsonObject[]
  /** A text for people, which proves nothing. */
  readonly how_to_verify: string
}

/** A state of the log, as a checkpoint that somebody kept states it. */
export type EarlierState = {
  readonly tree_size: number
  readonly root_hash: string
  /** The consistency proof from this state to the checkpoint. */
  readonly path: readonly string[]
}

export type BundleChecks = Checks & {
  /** True if all members are present and well-formed, and none is unknown. */
  readonly well_formed: boolean
  /** True if the keys are of one log, each introduced by the one before, and the signing key is among them. */
  readonly keys_linked: boolean
  /** True if the note of the seal is the one that hash and cosignature give. */
  readonly seal_matches: boolean
  /** True if the seal leads to the root of the checkpoint, and the checkpoint continues the earlier state, if any. */
  readonly seal_in_log: boolean
  /** True if a key of the log signed the checkpoint. */
  readonly checkpoint_signed: boolean
}

export type BundleFailure = ProofFailure<BundleChecks>
export type BundleResult = ProofResult<BundleChecks>

/** Returns true if JSON is meant to be a bundle: no other response of the service has any of these members. */
export function isProofBundle(json: JsonObject): boolean {
  return ['bundle_version', 'inclusion_proof', 'public_keys'].some((member) => Object.hasOwn(json, member))
}

/** Verifies a bundle with trusted keys, which may be its own. Never throws for the bundle's content. */
export function verifyProofBundleSync(json: JsonValue, keys: KeyRing, crypto: SyncCrypto): BundleResult {
  const bundle = readProofBundle(json)
  if (typeof bundle === 'string') return malformed(bundle)
  const [record] = verifyRecordsSync([itemOf(bundle)], keys, crypto)
  return runSync(verification(bundle, keys, record!), crypto)
}

/** Works like {@link verifyProofBundleSync}, with WebCrypto. */
export async function verifyProofBundle(json: JsonValue, keys: KeyRing, crypto: AsyncCrypto): Promise<BundleResult> {
  const bundle = readProofBundle(json)
  if (typeof bundle === 'string') return malformed(bundle)
  const [record] = await verifyRecords([itemOf(bundle)], keys, crypto)
  return runAsync(verification(bundle, keys, record!), crypto)
}

const itemOf = ({ record, provenance_hash: hash, provenance_cosign: cosign }: ProofBundle) => ({ record, hash, cosign })

function* verification(bundle: ProofBundle, keys: KeyRing, record: VerifyResult): SyncAsyncTask<BundleResult> {
  const cosign = readOrProblem(() => decodeCosign(bundle.provenance_cosign))
  const checkpoint = readOrProblem(() => parseCheckpoint(bundle.checkpoint))
  const logName = typeof checkpoint === 'string' ? '' : checkpoint.logName
  const ofRecord = (check: keyof Checks): [keyof BundleChecks, Problem] => {
    const failure = record.failures.find((each) => each.check === check)
    return [check, failure && `${failure.code}: ${failure.detail}`]
  }
  return proofResult<BundleChecks>([
    ['well_formed', undefined],
    ['keys_linked', yield* problemWithKeys(bundle, cosign, logName)],
    ofRecord('provenance_hash_matches'),
    ofRecord('provenance_cosign_valid'),
    ofRecord('schema_version_supported'),
    ['seal_matches', yield* problemWithSeal(bundle, cosign, keys)],
    ['seal_in_log', yield* problemWithLog(bundle)],
    [
      'checkpoint_signed',
      typeof checkpoint === 'string'
        ? checkpoint
        : yield* problemWithCheckpoint(bundle, cosign, keys, checkpoint.logName),
    ],
  ])
}

function* problemWithKeys(
  { public_keys }: ProofBundle,
  cosign: Cosign | string,
  logName: string,
): SyncAsyncTask<Problem> {
  try {
    const ring = yield* keyRingIn({ keys: public_keys })
    const foreign = [...ring.values()].findIndex(({ name }) => name !== logName)
    if (foreign >= 0) return `/public_keys/${foreign} is not of the log ${logName}, which the checkpoint names`
    if (typeof cosign === 'string') return cosign
    if (!ring.has(cosign.keyId)) return `/public_keys has no key ${cosign.keyId}, which the cosignature names`
    const first = [...ring.values()].filter((key) => key.succession === undefined).map(({ keyId }) => keyId)
    if (first.length !== 1) return `/public_keys has ${first.length} keys that no key introduces, not 1`
    const [unlinked] = (yield* succession(ring, first)).distrusted
    return unlinked && `/public_keys: key ${unlinked[0]}: ${unlinked[1]}`
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    return error.message.replace('/keys', '/public_keys')
  }
}

function* problemWithSeal(
  { seal, provenance_hash }: ProofBundle,
  cosign: Cosign | string,
  keys: KeyRing,
): SyncAsyncTask<Problem> {
  const hash = readOrProblem(() => parseRecordHash(provenance_hash))
  if (typeof cosign === 'string') return cosign
  if (typeof hash === 'string') return hash
  const { keyId, sealId, leafIndex, leafCount, timeMicros, salt, path, signature } = cosign
  if (seal.seal_id !== sealId) return `/seal/seal_id is not ${sealId}, as the cosignature says`
  if (seal.leaf_index !== leafIndex) return `/seal/leaf_index is not ${leafIndex}, as the cosignature says`
  if (seal.leaf_count !== leafCount) return `/seal/leaf_count is not ${leafCount}, as the cosignature says`
  const key = keys.get(keyId)
  if (key === undefined) return `no public key ${keyId}`
  const leaf = yield* sha256Of(leafHashInput(salt, hash))
  const root = yield* inclusionRoot(leafIndex, leafCount, leaf, path)
  const note = sealNote({ logName: key.name, sealId, leafCount, timeMicros, root }, keyId, signature)
  return seal.note === note ? undefined : '/seal/note is not the note that hash and cosignature give'
}

function* problemWithLog(bundle: ProofBundle): SyncAsyncTask<Problem> {
  const { seal, inclusion_proof, checkpoint: note, consistency_from: earlier } = bundle
  const { log_index: index, tree_size: size, leaf_hash } = inclusion_proof
  const checkpoint = readOrProblem(() => parseCheckpoint(note))
  if (typeof checkpoint === 'string') return checkpoint
  if (checkpoint.treeSize !== size) {
    return `/inclusion_proof/tree_size is ${size}, but the checkpoint is of ${checkpoint.treeSize} leaves`
  }
  const leaf = yield* sha256Of(concatBytes(Uint8Array.of(0), utf8(seal.note)))
  if (leaf_hash !== toBase64(leaf)) return '/inclusion_proof/leaf_hash is not the hash of /seal/note'
  const path = readOrProblem(() => inclusion_proof.path.map(fromBase64))
  if (typeof path === 'string') return `/inclusion_proof/path: ${path}`
  const place = { index, size, what: 'the seal', where: 'the log' }
  const problem = yield* problemWithPath(place, leaf, path, checkpoint.root)
  return problem ?? (earlier && (yield* problemWithEarlier(earlier, checkpoint)))
}

function* problemWithEarlier(earlier: EarlierState, { treeSize, root }: Checkpoint): SyncAsyncTask<Problem> {
  try {
    const continues = yield* verifyConsistencySteps({
      ...{ firstSize: earlier.tree_size, secondSize: treeSize, secondRoot: root },
      ...{ firstRoot: fromBase64(earlier.root_hash), path: earlier.path.map(fromBase64) },
    })
    return continues ? undefined : '/consistency_from: the checkpoint does not continue this state of the log'
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    return `/consistency_from: ${error.message}`
  }
}

function* problemWithCheckpoint(
  bundle: ProofBundle,
  cosign: Cosign | string,
  keys: KeyRing,
  logName: string,
): SyncAsyncTask<Problem> {
  const sealed = typeof cosign === 'string' ? undefined : keys.get(cosign.keyId)
  if (sealed !== undefined && sealed.name !== logName) {
    return `/checkpoint is of the log ${logName}, but the record was sealed for ${sealed.name}`
  }
  const problem = yield* problemWithSignature(bundle.checkpoint, logName, keys)
  return problem && `/checkpoint: ${problem}`
}

const checkNames = [
  'well_formed',
  'keys_linked',
  'provenance_hash_matches',
  'provenance_cosign_valid',
  'schema_version_supported',
  'seal_matches',
  'seal_in_log',
  'checkpoint_signed',
] as const

function malformed(detail: string): BundleResult {
  return proofResult<BundleChecks>(
    checkNames.map((check) => [check, check === 'well_formed' ? detail : 'the bundle is malformed']),
  )
}

const isText = (value: JsonValue | undefined) => typeof value === 'string'
const isObject = (value: JsonValue | undefined) => value !== undefined && isJsonObject(value)

type Form = Readonly<Record<string, (value: JsonValue | undefined) => boolean>>

const bundleForm: Form = {
  bundle_version: (value) => value === proofBundleVersion,
  record: isObject,
  provenance_hash: isText,
  provenance_cosign: isText,
  seal: isObject,
  inclusion_proof: isObject,
  checkpoint: isText,
  consistency_from: (value) => value === undefined || isObject(value),
  public_keys: (value) => Array.isArray(value) && value.length > 0,
  how_to_verify: isText,
}
const sealForm: Form = { seal_id: isText, leaf_index: isCount, leaf_count: isCount, note: isText }
const proofForm: Form = { log_index: isCount, tree_size: isCount, leaf_hash: isText, path: isPath }
const earlierForm: Form = { tree_size: isCount, root_hash: isText, path: isPath }
/** The members of a record that its hash does not cover. `is_purged` is stated, not proved. */
const unhashedForm: Form = {
  is_purged: (value) => typeof value === 'boolean',
  provenance_hash: isText,
  provenance_cosign: isText,
}
const keyMembers = ['key_id', 'name', 'algorithm', 'public_key', 'vkey', 'created_at', 'retired_at', 'succession']

/** Returns the bundle with all its members, or a sentence that names the first malformed or unknown member. */
function readProofBundle(json: JsonValue): ProofBundle | string {
  if (!isJsonObject(json)) return 'a proof bundle is a JSON object'
  const problem =
    problemWithForm(json, bundleForm, '') ??
    problemWithForm(json.seal as JsonObject, sealForm, '/seal') ??
    problemWithForm(json.inclusion_proof as JsonObject, proofForm, '/inclusion_proof') ??
    problemWithEarlierForm(json.consistency_from as JsonObject | undefined) ??
    problemWithForm(unhashedPart(json.record as JsonObject), unhashedForm, '/record') ??
    problemWithKeyMembers(json.public_keys as readonly JsonValue[])
  if (problem !== undefined) return problem
  const bundle = json as unknown as ProofBundle
  for (const member of ['provenance_hash', 'provenance_cosign'] as const) {
    if (bundle.record[member] !== bundle[member]) return `/${member} is not that of /record`
  }
  return bundle
}

function problemWithEarlierForm(earlier: JsonObject | undefined): Problem {
  return earlier && problemWithForm(earlier, earlierForm, '/consistency_from')
}

function unhashedPart(record: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([member]) => unhashedMembers.includes(member)))
}

/** Returns the first unknown member of a key. All else about keys has a check of its own. */
function problemWithKeyMembers(keys: readonly JsonValue[]): Problem {
  for (const [index, key] of keys.entries()) {
    const problem = isJsonObject(key) ? problemWithMembers(key, keyMembers, `/public_keys/${index}`) : undefined
    if (problem !== undefined) return problem
  }
  return undefined
}

function problemWithMembers(object: JsonObject, known: readonly string[], at: string): Problem {
  const unknown = Object.keys(object).find((member) => !known.includes(member))
  return unknown && `${at}: ${JSON.stringify(unknown)} is not a member of a bundle of version ${proofBundleVersion}`
}

function problemWithForm(object: JsonObject, form: Form, at: string): Problem {
  const problem = problemWithMembers(object, Object.keys(form), at)
  if (problem !== undefined) return problem
  const wrong = Object.keys(form).find((member) => !form[member]!(object[member]))
  return wrong && `${at}/${wrong} is missing, or not what it must be`
}
