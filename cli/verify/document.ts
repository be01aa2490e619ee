import { duplicateMember } from '../../provenance/duplicate-members.ts'
import type { ExportVerifier } from '../../provenance/export/export-verifier.ts'
import {
  type CertificateChecks,
  isDeletionCertificate,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type KeyRing,
  verifyDeletionCertificateSync,
} from '../../provenance/index.ts'
import { runSync } from '../../provenance/sync-async-runner.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { InconclusiveError } from './inconclusive-error.ts'

/** The facts of a verified deletion certificate that the report shows. */
export interface CheckedCertificate {
  /** Undefined if the certificate names no record. */
  recordId: string | undefined
  /** Signed content, so it is set only if every check passed. */
  erased: { recordType: string; at: string } | undefined
  checks: CertificateChecks
}

/**
 * Verifies one JSON document. The line of a record is its number in the document.
 *
 * Returns the certificate if the document is one. Throws InconclusiveError if it contains nothing to verify.
 */
export function verifyDocument(text: string, verifier: ExportVerifier, keys: KeyRing): CheckedCertificate | undefined {
  const json = parse(text)
  const twice = duplicateMember(text)
  if (twice !== undefined) {
    // Readers differ in which of the two they use.
    verifier.wrong(`record-malformed: the member ${JSON.stringify(twice)} occurs twice`)
  } else if (isJsonObject(json) && isDeletionCertificate(json)) {
    return verifyCertificate(json, verifier, keys)
  } else {
    for (const [i, record] of recordsIn(json).entries()) runSync(verifier.record(i + 1, record), nodeCrypto)
  }
  return undefined
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
    'There is no record in this document, nor is it a deletion certificate.',
    'Pass an API response for a record, a query, the entries of the log, or a deletion certificate.',
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
