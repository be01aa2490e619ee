import { runSync } from '../../provenance/computation.ts'
import { duplicateMember } from '../../provenance/duplicate-members.ts'
import type { ExportVerifier } from '../../provenance/export-verifier.ts'
import {
  isDeletionCertificate,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type KeyRing,
  verifyDeletionCertificateSync,
} from '../../provenance/index.ts'
import { nodeCrypto } from '../../server/modules/hub/node-crypto.ts'
import { CannotCheckError } from './cannot-check.ts'

/**
 * Verifies one JSON document. The line of a record is its number in the document.
 *
 * Throws CannotCheckError where there is nothing to verify in it.
 */
export function verifyDocument(text: string, verifier: ExportVerifier, keys: KeyRing): void {
  const json = parse(text)
  const twice = duplicateMember(text)
  if (twice !== undefined) {
    // Which of the two is meant depends on who reads it.
    verifier.wrong(`record-malformed: the member ${JSON.stringify(twice)} occurs twice`)
  } else if (isJsonObject(json) && isDeletionCertificate(json)) {
    const { failures } = verifyDeletionCertificateSync(json, keys, nodeCrypto)
    const recordId = typeof json.record_id === 'string' ? json.record_id : null
    verifier.judged(
      1,
      recordId,
      failures.map(({ check, detail }) => `certificate: ${check}: ${detail}`),
    )
  } else {
    for (const [i, record] of recordsIn(json).entries()) runSync(verifier.record(i + 1, record), nodeCrypto)
  }
}

function recordsIn(json: JsonValue): readonly JsonObject[] {
  const list = Array.isArray(json) ? json : isJsonObject(json) ? (json.records ?? json.items ?? [json]) : []
  const records = (Array.isArray(list) ? (list as JsonValue[]) : []).flatMap((item) => {
    if (!isJsonObject(item)) return []
    // Entries of the log have their record inside; those of erased ones have none.
    return isJsonObject(item.record ?? null) ? [item.record as JsonObject] : item.erased === true ? [] : [item]
  })
  if (records.length > 0 && records.every((record) => isRecord(record))) return records
  throw new CannotCheckError(
    'There is no record in this document, nor is it a deletion certificate.',
    'Give what the API answers for a record, a query, the entries of the log, or a deletion certificate.',
  )
}

function isRecord(record: JsonObject): boolean {
  return ['record_id', 'provenance_hash', 'provenance_cosign'].some((member) => Object.hasOwn(record, member))
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    throw new CannotCheckError('The document is not JSON.', 'Give the file as it was downloaded.', { cause: error })
  }
}
