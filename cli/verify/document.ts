import { duplicateMember } from '../../provenance/duplicate-members.ts'
import type { ExportVerifier } from '../../provenance/export/export-verifier.ts'
import {
  type BundleChecks,
  type CertificateChecks,
  type EarlierState,
  isDeletionCertificate,
  isJsonObject,
  isProofBundle,
  type JsonObject,
  type JsonValue,
  type KeyRing,
  proofBundleVersion,
  verifyDeletionCertificateSync,
  verifyProofBundleSync,
} from '../../provenance/index.ts'
import { runSync } from '../../provenance/sync-async-runner.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import type { CheckedPack } from './evidence-pack.ts'
import { InconclusiveError } from './inconclusive-error.ts'

/** The facts of a verified deletion certificate that the report shows. */
export interface CheckedCertificate {
  /** Undefined if the certificate names no record. */
  recordId: string | undefined
  /** Signed content, so it is set only if every check passed. */
  erased: { recordType: string; at: string } | undefined
  checks: CertificateChecks
}

/** The facts of a verified proof bundle that the report shows. */
export interface CheckedBundle {
  /** Undefined if the bundle names no record. */
  recordId: string | undefined
  /** Signed content, so it is set only if every check passed. */
  sealed: { recordType: string; at: string } | undefined
  /** The earlier state of the log that the checkpoint continues; set only if every check passed. */
  earlier: EarlierState | undefined
  checks: BundleChecks
}

/** The proof in a document or archive; none is set for records. */
export interface CheckedProof {
  certificate?: CheckedCertificate
  bundle?: CheckedBundle
  pack?: CheckedPack
}

/**
 * Verifies one JSON document. The line of a record is its number in the document.
 *
 * Returns the certificate or bundle if the document is one. Throws InconclusiveError if it contains nothing to verify.
 */
export function verifyDocument(text: string, verifier: ExportVerifier, keys: KeyRing): CheckedProof {
  const json = parse(text)
  const twice = duplicateMember(text)
  if (twice !== undefined) {
    // Readers differ in which of the two they use.
    verifier.wrong(`record-malformed: the member ${JSON.stringify(twice)} occurs twice`)
  } else if (isJsonObject(json) && isDeletionCertificate(json)) {
    return { certificate: verifyCertificate(json, verifier, keys) }
  } else if (isJsonObject(json) && isProofBundle(json)) {
    return { bundle: verifyBundle(json, verifier, keys) }
  } else {
    for (const [i, record] of recordsIn(json).entries()) runSync(verifier.record(i + 1, record), nodeCrypto)
  }
  return {}
}

/**
 * Returns the key document inside a proof bundle; undefined for any other document. Its keys may be malformed: the
 * verification reports them.
 */
export function keysInBundle(text: string): JsonObject | undefined {
  const json = parse(text)
  return isJsonObject(json) && isProofBundle(json) ? { keys: json.public_keys ?? [] } : undefined
}

function verifyBundle(json: JsonObject, verifier: ExportVerifier, keys: KeyRing): CheckedBundle {
  const { bundle_version: version } = json
  if (typeof version === 'number' && version > proofBundleVersion) {
    throw new InconclusiveError(
      `This proof bundle has version ${version}; this program verifies up to version ${proofBundleVersion}.`,
      'Use a newer version of this program.',
    )
  }
  const { verified, checks, failures } = verifyProofBundleSync(json, keys, nodeCrypto)
  const { record_id: id, record_type: type, created_at: at } = recordIn(json)
  const recordId = typeof id === 'string' && /^[0-9a-f-]{36}$/.test(id) ? id : undefined
  verifier.judged(
    1,
    recordId ?? null,
    failures.map(({ check, detail }) => `bundle: ${check}: ${detail}`),
  )
  const sealed = verified ? { recordType: String(type), at: String(at) } : undefined
  const earlier = verified ? (json.consistency_from as EarlierState | undefined) : undefined
  return { recordId, sealed, earlier, checks }
}

function recordIn({ record = null }: JsonObject): JsonObject {
  return isJsonObject(record) ? record : {}
}

function verifyCertificate(json: JsonObject, verifier: ExportVerifier, keys: KeyRing): CheckedCertificate {
  const { verified, checks, failures } = verifyDeletionCertificateSync(json, keys, nodeCrypto)
  const { record_id: id, record_type: type, erased_at: at } = json
  verifier.judged(
    1,
    typeof id === 'string' ? id : null,
    failures.map(({ check, detail }) => `certificate: ${check}: ${detail}`),
  )
  return {
    recordId: typeof id === 'string' && /^[0-9a-f-]{36}$/.test(id) ? id : undefined,
    erased: verified ? { recordType: String(type), at: String(at) } : undefined,
    checks,
  }
}

function recordsIn(json: JsonValue): readonly JsonObject[] {
  const list = Array.isArray(json) ? json : isJsonObject(json) ? (json.records ?? json.items ?? [json]) : []
  const records = (Array.isArray(list) ? (list as JsonValue[]) : []).flatMap((item) => {
    if (!isJsonObject(item)) return []
    // A log entry contains its record, except if the record is erased.
    return isJsonObject(item.record ?? null) ? [item.record as JsonObject] : item.erased === true ? [] : [item]
  })
  if (records.length > 0 && records.every((record) => isRecord(record))) return records
  throw new InconclusiveError(
    'There is no record in this document, nor is it a proof bundle or a deletion certificate.',
    'Pass an API response for a record, a query, the entries of the log, a proof bundle or a deletion certificate.',
  )
}

/** Returns true if an object has the id or any provenance of a record; the verifier reports missing members. */
function isRecord(record: JsonObject): boolean {
  return ['record_id', 'provenance_hash', 'provenance_cosign'].some((member) => Object.hasOwn(record, member))
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    throw new InconclusiveError('The document is not JSON.', 'Give the file as it was downloaded.', { cause: error })
  }
}
