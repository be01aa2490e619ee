import { concatBytes, fromBase64, utf8 } from './bytes.ts'
import { parseCheckpoint } from './checkpoint.ts'
import { decodeCosign } from './cosign.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
import type { KeyRing } from './keys.ts'
import { parseSealNote } from './log.ts'
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
import { recoveryEndOf } from './purge-event.ts'
import {
  type AsyncCrypto,
  runAsync,
  runSync,
  type SyncAsyncTask,
  type SyncCrypto,
  sha256Of,
} from './sync-async-runner.ts'
import { itemOfResponse, type VerifyResult, verifyRecords, verifyRecordsSync } from './verify.ts'

/**
 * The response of `GET /api/v1/hub/records/{id}/deletion-certificate`: a record existed, was sealed and is in the log,
 * and signed events state when and why it was deleted. Hashes are in base64. docs/verification.md explains what it proves.
 */
export type DeletionCertificate = {
  readonly record_id: string
  readonly record_type: string
  readonly tenant_id: string
  readonly seal_id: string
  readonly leaf_index: number
  /** The remainder of the record: a salted hash of its hash. */
  readonly leaf_hash: string
  /** The path from the leaf up to the root of the seal. */
  readonly leaf_path: readonly string[]
  /** The whole signed note of the seal. */
  readonly seal_note: string
  readonly log_index: number
  readonly tree_size: number
  /** The path from the seal up to the root of the log. */
  readonly inclusion_path: readonly string[]
  /** The signed note of the log with `tree_size` leaves. */
  readonly checkpoint: string
  readonly purged_at: string
  readonly purged_by: string
  readonly purge_reason: string
  readonly erased_at: string
  /**
   * The events, in the form of API records. The purge event is absent if an erasure was repeated after a restore, or if
   * the reader may not see it. The erasure event names the purge event and repeats when, by whom and why.
   */
  readonly events: { readonly purged?: JsonObject; readonly erased: JsonObject }
}

export type CertificateChecks = {
  /** True if all members are present and well-formed. */
  readonly well_formed: boolean
  /** True if a key of the log signed the seal that the certificate names. */
  readonly seal_signed: boolean
  /** True if the leaf leads to the root of the seal. */
  readonly leaf_in_seal: boolean
  /** True if the seal leads to the root of a signed state of the log. */
  readonly seal_in_log: boolean
  /** True if keys of the same log signed the events. */
  readonly events_verified: boolean
  /** True if the events match this record and leaf, agree with the certificate, and the recovery period was over. */
  readonly events_agree: boolean
}

export type CertificateFailure = ProofFailure<CertificateChecks>
export type CertificateResult = ProofResult<CertificateChecks>

/** Returns true if JSON is meant to be a certificate: no other response of the service has these members. */
export function isDeletionCertificate(json: JsonObject): boolean {
  return ['leaf_path', 'seal_note', 'erased_at', 'events'].every((member) => Object.hasOwn(json, member))
}

/** Verifies a certificate with only the keys of its log. Never throws for the certificate's content. */
export function verifyDeletionCertificateSync(json: JsonValue, keys: KeyRing, crypto: SyncCrypto): CertificateResult {
  const certificate = readDeletionCertificate(json)
  if (typeof certificate === 'string') return malformed(certificate)
  const events = verifyRecordsSync(eventsOf(certificate).map(itemOfResponse), keys, crypto)
  return runSync(verification(certificate, keys, events), crypto)
}

/** Works like {@link verifyDeletionCertificateSync}, with WebCrypto. */
export async function verifyDeletionCertificate(
  json: JsonValue,
  keys: KeyRing,
  crypto: AsyncCrypto,
): Promise<CertificateResult> {
  const certificate = readDeletionCertificate(json)
  if (typeof certificate === 'string') return malformed(certificate)
  const events = await verifyRecords(eventsOf(certificate).map(itemOfResponse), keys, crypto)
  return runAsync(verification(certificate, keys, events), crypto)
}

function eventsOf({ events }: DeletionCertificate): JsonObject[] {
  return events.purged === undefined ? [events.erased] : [events.erased, events.purged]
}

function* verification(
  certificate: DeletionCertificate,
  keys: KeyRing,
  events: readonly VerifyResult[],
): SyncAsyncTask<CertificateResult> {
  const seal = readOrProblem(() => parseSealNote(certificate.seal_note))
  const logName = typeof seal === 'string' ? '' : seal.logName
  const problems: [keyof CertificateChecks, Problem][] = [
    ['well_formed', undefined],
    ['seal_signed', yield* problemWithSeal(certificate, keys)],
    ['leaf_in_seal', yield* problemWithLeaf(certificate)],
    ['seal_in_log', yield* problemWithLog(certificate, keys, logName)],
    ['events_verified', problemWithEvents(certificate, keys, events, logName)],
    ['events_agree', problemWithStatements(certificate)],
  ]
  return proofResult<CertificateChecks>(problems)
}

function* problemWithSeal({ seal_note, seal_id, leaf_index }: DeletionCertificate, keys: KeyRing) {
  const seal = readOrProblem(() => parseSealNote(seal_note))
  if (typeof seal === 'string') return seal
  if (seal.sealId !== seal_id) return `the note is of the seal ${seal.sealId}, not ${seal_id}`
  if (leaf_index >= seal.leafCount) return `the seal has ${seal.leafCount} leaves, and none ${leaf_index}`
  return yield* problemWithSignature(seal_note, seal.logName, keys)
}

function* problemWithLeaf({
  seal_note,
  leaf_index,
  leaf_hash,
  leaf_path,
}: DeletionCertificate): SyncAsyncTask<Problem> {
  const seal = readOrProblem(() => parseSealNote(seal_note))
  if (typeof seal === 'string') return seal
  const path = readOrProblem(() => leaf_path.map(fromBase64))
  const leaf = readOrProblem(() => fromBase64(leaf_hash))
  if (typeof path === 'string') return path
  if (typeof leaf === 'string') return leaf
  const place = { index: leaf_index, size: seal.leafCount, what: 'the leaf', where: 'the seal' }
  return yield* problemWithPath(place, leaf, path, seal.root)
}

function* problemWithLog(certificate: DeletionCertificate, keys: KeyRing, logName: string): SyncAsyncTask<Problem> {
  const { seal_note, checkpoint: note, log_index, tree_size, inclusion_path } = certificate
  const checkpoint = readOrProblem(() => parseCheckpoint(note))
  if (typeof checkpoint === 'string') return checkpoint
  if (checkpoint.logName !== logName)
    return `the checkpoint is of the log ${checkpoint.logName}, the seal of ${logName}`
  if (checkpoint.treeSize !== tree_size) return `the checkpoint is of ${checkpoint.treeSize} leaves, not ${tree_size}`
  const unsigned = yield* problemWithSignature(note, logName, keys)
  if (unsigned !== undefined) return unsigned
  const path = readOrProblem(() => inclusion_path.map(fromBase64))
  if (typeof path === 'string') return path
  const leaf = yield* sha256Of(concatBytes(Uint8Array.of(0), utf8(seal_note)))
  const place = { index: log_index, size: tree_size, what: 'the seal', where: 'the log' }
  return yield* problemWithPath(place, leaf, path, checkpoint.root)
}

function problemWithEvents(
  certificate: DeletionCertificate,
  keys: KeyRing,
  results: readonly VerifyResult[],
  logName: string,
): Problem {
  for (const [at, event] of eventsOf(certificate).entries()) {
    const name = at === 0 ? '/events/erased' : '/events/purged'
    const result = results[at]!
    if (!result.verified) return `${name}: ${result.failures.map(({ detail }) => detail).join('; ')}`
    const signer = keys.get(decodeCosign(String(event.provenance_cosign)).keyId)
    if (signer?.name !== logName) return `${name} is of the log ${signer?.name}, the seal of ${logName}`
  }
  return undefined
}

function problemWithStatements(certificate: DeletionCertificate): Problem {
  const { record_id, tenant_id, record_type, purged_at, erased_at, events } = certificate
  const common = {
    created_by: 'service:hub',
    record_type: 'governance_event',
    tenant_id,
    subject: `record:${record_id}`,
  }
  const { purged_by, purge_reason: reason, leaf_hash, seal_id, leaf_index } = certificate
  const purge = { record_type, purged_at, reason }
  const erasure = { ...purge, purged_by, erased_at, leaf_hash, seal_id, leaf_index }
  const ofErased =
    difference(events.erased, { ...common, event_kind: 'hub.record_hard_deleted' }) ??
    difference(detailsOf(events.erased), erasure, '/details')
  if (ofErased !== undefined) return `/events/erased${ofErased}`
  const { repeated, purge_event, hard_delete_after, as_of } = detailsOf(events.erased)
  const early = (end: string | undefined) =>
    repeated === true || (end !== undefined && end <= erased_at)
      ? undefined
      : `it was erased before its recovery period was over, at ${end}${as_of === undefined ? '' : `, as if it were ${as_of}`}`
  if (events.purged === undefined) {
    if (repeated === true) return undefined
    // The erasure event names the omitted event and states the rest itself.
    if (typeof purge_event !== 'string' || typeof hard_delete_after !== 'string') return '/events/purged is missing'
    return early(hard_delete_after)
  }
  if (purge_event !== undefined && events.purged.record_id !== purge_event) {
    return `/events/purged is not the event ${purge_event}, which /events/erased names`
  }
  const ofPurged =
    difference(events.purged, { ...common, event_kind: 'hub.record_purged' }) ??
    difference(detailsOf(events.purged), { ...purge, actor: purged_by }, '/details')
  if (ofPurged !== undefined) return `/events/purged${ofPurged}`
  if (purged_at >= erased_at) return 'it was erased before it was purged'
  return early(recoveryEndOf(detailsOf(events.purged)))
}

function detailsOf({ details }: JsonObject): JsonObject {
  return typeof details === 'object' && details !== null && !Array.isArray(details) ? (details as JsonObject) : {}
}

function difference(event: JsonObject, expected: Readonly<Record<string, JsonValue>>, at = ''): Problem {
  const other = Object.entries(expected).find(([member, value]) => event[member] !== value)
  return other && `${at}/${other[0]} is ${JSON.stringify(event[other[0]])}, not ${JSON.stringify(other[1])}`
}

const checkNames = [
  'well_formed',
  'seal_signed',
  'leaf_in_seal',
  'seal_in_log',
  'events_verified',
  'events_agree',
] as const

function malformed(detail: string): CertificateResult {
  return proofResult<CertificateChecks>(
    checkNames.map((check) => [check, check === 'well_formed' ? detail : 'the certificate is malformed']),
  )
}

const textMembers = [
  'record_id',
  'record_type',
  'tenant_id',
  'seal_id',
  'leaf_hash',
  'seal_note',
  'checkpoint',
  'purged_at',
  'purged_by',
  'purge_reason',
  'erased_at',
] as const
const countMembers = ['leaf_index', 'log_index', 'tree_size'] as const
const pathMembers = ['leaf_path', 'inclusion_path'] as const

/** Returns the certificate with all its members, or a sentence that names the first malformed member. */
function readDeletionCertificate(json: JsonValue): DeletionCertificate | string {
  if (!isJsonObject(json)) return 'a certificate is a JSON object'
  const wrong =
    textMembers.find((member) => typeof json[member] !== 'string') ??
    countMembers.find((member) => !isCount(json[member])) ??
    pathMembers.find((member) => !isPath(json[member]))
  if (wrong !== undefined) return `/${wrong} is missing, or not what it must be`
  const { events } = json
  if (!isJsonObject(events) || !isJsonObject(events.erased)) return '/events/erased is not a record'
  if (events.purged !== undefined && !isJsonObject(events.purged)) return '/events/purged is not a record'
  return json as JsonObject as unknown as DeletionCertificate
}
