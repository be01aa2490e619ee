/** Verifies records, proof bundles and exports offline, with public keys that the caller trusts. */
import {
  type AsyncCrypto,
  type BundleResult,
  verifyExport as exportVerification,
  itemOfResponse,
  type JsonObject,
  type JsonValue,
  type KeyRing,
  parseKeyDocumentAsync,
  verifyProofBundle as proofVerification,
  type VerificationReport,
  type VerifyResult,
  verifyRecords as verifyItems,
} from '../../../../provenance/index.ts'
import { hasEd25519, webCrypto } from './web-crypto.ts'

export {
  type BundleChecks,
  type BundleFailure,
  type BundleResult,
  type Checks,
  type Failure,
  type FailureCode,
  type KeyRing,
  ProvenanceError,
  type VerificationFailure,
  type VerificationReport,
  type VerifyResult,
} from '../../../../provenance/index.ts'

/** An export in JSON Lines, unpacked, in chunks of any size. */
export interface ExportFiles {
  file: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /** The manifest. Without it, records that are absent from the file stay unnoticed. */
  manifest?: Uint8Array | undefined
}

let found: Promise<AsyncCrypto> | undefined

function cryptoHere(): Promise<AsyncCrypto> {
  found ??= findCrypto(globalThis.crypto?.subtle)
  return found
}

/** @throws Error if this runtime has no Ed25519, so that no caller takes this for a bad signature */
async function findCrypto(subtle: Crypto['subtle'] | undefined): Promise<AsyncCrypto> {
  if (!subtle) throw new Error('This page has no WebCrypto: load it over https')
  if (!(await hasEd25519(subtle))) throw new Error('WebCrypto of this runtime has no Ed25519: update it')
  return webCrypto(subtle)
}

/**
 * Returns the keys of a key document, such as `/.well-known/provenance-keys.json`. Keep a document that you trust: keys
 * that come with the records prove only that both are from one place.
 *
 * @throws {ProvenanceError} for a malformed document
 */
export async function trustedKeys(document: object): Promise<KeyRing> {
  return parseKeyDocumentAsync(document as JsonValue, (await cryptoHere()).sha256)
}

/** Verifies a record as the API returns it. Altered records give a failed check, and never throw. */
export async function verifyRecord(record: object, keys: KeyRing): Promise<VerifyResult> {
  const [result] = await verifyRecords([record], keys)
  return result as VerifyResult
}

/** Verifies records in order. Records of one seal share one signature verification. */
export async function verifyRecords(records: readonly object[], keys: KeyRing): Promise<VerifyResult[]> {
  const items = records.map((record) => itemOfResponse(record as JsonObject))
  return verifyItems(items, keys, await cryptoHere())
}

/** Verifies a proof bundle: the record, its seal, and the place of the seal in the log. */
export async function verifyProofBundle(bundle: object, keys: KeyRing): Promise<BundleResult> {
  return proofVerification(bundle as JsonValue, keys, await cryptoHere())
}

/**
 * Verifies an export. Holds the file in memory, up to twice its size; use `hub verify` for larger ones.
 *
 * @throws {ProvenanceError} `manifest-malformed`
 */
export async function verifyExport(files: ExportFiles, keys: KeyRing): Promise<VerificationReport> {
  return exportVerification({ ...files, keys }, await cryptoHere())
}
