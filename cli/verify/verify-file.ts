import { createHash } from 'node:crypto'
import { ExportLines } from '../../provenance/export/export-lines.ts'
import { ExportVerifier, type FileDigest, type VerificationReport } from '../../provenance/export/export-verifier.ts'
import { type PreparedManifest, prepareManifest } from '../../provenance/export/prepared-manifest.ts'
import { type JsonObject, type KeyRing, ProvenanceError } from '../../provenance/index.ts'
import type { StreamHash } from '../../provenance/stream-hash.ts'
import { runSync } from '../../provenance/sync-async-runner.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { verifyCsvRows } from './csv-rows.ts'
import { type CheckedProof, keysInBundle, verifyDocument } from './document.ts'
import { isArchive, verifyEvidencePack } from './evidence-pack.ts'
import { isUrl } from './fetch-input.ts'
import { InconclusiveError } from './inconclusive-error.ts'
import { type FoundManifest, findManifest } from './manifest-file.ts'
import { verifyParquetRows } from './parquet-rows.ts'
import { isKeyUnknown, trustSummary } from './trust-summary.ts'
import { readKeys, type Trust, trustOnFirstUse, trustPinned } from './trusted-keys.ts'
import { DamagedFileError, Digest, documentBytesMax, type FileFormat, formatOf, VerifiedFile } from './verified-file.ts'

export interface VerifyOptions {
  /** The path or URL of the manifest. */
  manifest?: string
  /** The path or URL of the keys. */
  keys?: string
  /** Maximum milliseconds for reading a row group of Parquet. */
  parquetGroupMs?: number
}

export interface FileVerification {
  file: string
  format: FileFormat
  /** The verified certificate or bundle if the file is one. */
  proof: CheckedProof
  /** The place of the manifest, and its content or why it is unreadable. */
  manifest: { place: string; prepared: PreparedManifest | undefined; problem: string | undefined } | undefined
  /** The basis and the limits of the verification, in one sentence. */
  trust: string
  /** `unchecked`: the file has no failure, but its manifest is unreadable. */
  outcome: 'verified' | 'failed' | 'unchecked'
  report: VerificationReport
}

/** The fix for an unusable manifest. */
export const manifestFix = 'Download it again. To check the rows alone, move it away and give public keys with --keys.'

/**
 * Verifies a file with only its inputs: no server, no database, and no network unless an input is a URL. Throws
 * InconclusiveError if nothing can be verified or refuted.
 */
export async function verifyFile(path: string, options: VerifyOptions): Promise<FileVerification> {
  const file = await VerifiedFile.open(path)
  const pinned = options.keys === undefined ? undefined : await readKeys(options.keys)
  if (isArchive(file)) return verifyPack(file, pinned && { keys: pinned, place: options.keys! })
  const found = await findManifest(path, options.manifest)
  const bundleKeys = found === undefined ? await keysOfBundle(file) : undefined
  if (found === undefined && pinned === undefined && bundleKeys === undefined) throw noKeys(path)
  const manifest = found && { place: found.place, ...readManifest(found) }
  const { prepared, problem } = manifest ?? {}
  if (problem !== undefined && pinned === undefined) throw unusableManifest(found!.place, problem)
  const offering = bundleKeys ? { keys: bundleKeys } : prepared?.members
  const trust = pinned
    ? trustPinned(pinned, options.keys!, offering)
    : bundleKeys
      ? bundleTrust(bundleKeys)
      : manifestTrust(found!.place, prepared!)
  const verifier = new ExportVerifier(trust.keys, prepared)
  if (problem !== undefined) verifier.wrong(problem)
  const format = prepared?.head.export.format ?? (await formatOf(file))
  const parquetGroupMs = options.parquetGroupMs
  const { digest, proof = {} } = await verifyContent(file, format, verifier, { trust, prepared, parquetGroupMs })
  const report = runSync(verifier.finish(digest), nodeCrypto)
  if (prepared === undefined) requireRows(path, report, problem)
  const outcome = report.verified
    ? 'verified'
    : problem !== undefined && report.failureCount === 1
      ? 'unchecked'
      : 'failed'
  const sentence = trustSummary(trust.basis, {
    manifest,
    isDocument: format === 'json',
    records: proof.certificate ? 0 : report.checked,
    // Keys that were fetched a moment ago are not older than the file.
    hasOldKeys: pinned !== undefined && !isUrl(options.keys!) && report.failures.some(isKeyUnknown),
  })
  return { file: path, format, proof, manifest, trust: sentence, outcome, report }
}

async function verifyPack(
  file: VerifiedFile,
  pinned: { keys: KeyRing; place: string } | undefined,
): Promise<FileVerification> {
  const { pack, trust, report } = await verifyEvidencePack(file, pinned)
  const hasOldKeys = pinned !== undefined && !isUrl(pinned.place) && report.failures.some(isKeyUnknown)
  return {
    file: file.path,
    format: 'evidence-pack',
    proof: { pack },
    manifest: undefined,
    trust: trustSummary(trust.basis, { manifest: undefined, isDocument: true, records: 0, hasOldKeys }),
    outcome: report.verified ? 'verified' : 'failed',
    report,
  }
}

function readManifest({ source }: FoundManifest): {
  prepared: PreparedManifest | undefined
  problem: string | undefined
} {
  try {
    return { prepared: runSync(prepareManifest(source, streamHash()), nodeCrypto), problem: undefined }
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    return { prepared: undefined, problem: `${error.code}: ${error.message}` }
  }
}

function manifestTrust(place: string, prepared: PreparedManifest): Trust {
  try {
    const trust = trustOnFirstUse(prepared.members.keys ?? null)
    if (trust.keys.size > 0) return trust
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
  }
  throw unusableManifest(place, 'manifest-keys: it brings no keys that can be read')
}

/** Returns the key document inside a proof bundle; undefined if the file is none. */
async function keysOfBundle(file: VerifiedFile): Promise<JsonObject | undefined> {
  const isObject = /^\s*\{/.test(Buffer.from(file.head).toString())
  if (!isObject || (await formatOf(file)) !== 'json') return undefined
  return keysInBundle(Buffer.from((await file.document())!).toString())
}

/** Trusts the keys of the bundle itself. The verification reports malformed ones. */
function bundleTrust(keys: JsonObject): Trust {
  try {
    return trustOnFirstUse(keys, 'proof bundle')
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    return { keys: new Map(), basis: 'none: the keys in the proof bundle cannot be read' }
  }
}

/** Throws InconclusiveError if the rows by themselves prove nothing. */
function requireRows(path: string, report: VerificationReport, manifestProblem: string | undefined): void {
  const { checked, withoutProvenance, failureCount } = report
  const rowFailures = failureCount - (manifestProblem === undefined ? 0 : 1)
  if (rowFailures === 0 && checked === 0) {
    throw new InconclusiveError(
      `${path} has no records.`,
      'Give the manifest of the export, which tells how many it has.',
    )
  }
  // Throws only if no row has provenance and there is no other failure: a single row that lost its provenance is a
  // failure.
  if (withoutProvenance === 0 || withoutProvenance !== checked || withoutProvenance !== rowFailures) return
  const manifestText =
    manifestProblem === undefined ? '' : `, and the manifest cannot be used (${detailOf(manifestProblem)})`
  throw new InconclusiveError(
    `${path}: these rows carry no provenance (exported without include_provenance), so that none can be verified by itself${manifestText}.`,
    'Give the manifest of the export with --manifest: it is signed, and about the whole file. Or export again with include_provenance: true.',
  )
}

/**
 * Verifies the content. Returns the digest of the file that the manifest describes if this is it, compressed or not.
 */
async function verifyContent(
  file: VerifiedFile,
  format: FileFormat,
  verifier: ExportVerifier,
  {
    trust,
    prepared,
    parquetGroupMs,
  }: { trust: Trust; prepared: PreparedManifest | undefined; parquetGroupMs?: number | undefined },
): Promise<{ digest?: FileDigest | undefined; proof?: CheckedProof }> {
  if (format === 'json') {
    return { proof: verifyDocument((await textOf(file.content())) ?? '', verifier, trust.keys) }
  }
  if (format === 'parquet') {
    if (file.isGzip) throw new InconclusiveError(`${file.path} is Parquet inside gzip.`, 'Unpack it with gunzip first.')
    await verifyParquetRows(file, verifier, parquetGroupMs)
    return { digest: await file.digest() }
  }
  const packed = new Digest()
  const unpacked = new Digest()
  const isPacked = prepared?.head.export.compression === 'gzip'
  const content = file.isGzip && !isPacked ? measured(file.content(), unpacked) : file.content(packed)
  try {
    if (format === 'jsonl') await verifyLines(content, verifier)
    else await verifyCsvRows(content, verifier)
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error
    verifier.wrong(`file-damaged: ${error.message}, and what is behind the damage was not read`)
    return file.isGzip && !isPacked ? {} : { digest: await file.digest() }
  }
  if (file.isGzip && !isPacked) return { digest: unpacked.result() }
  return isPacked && !file.isGzip ? {} : { digest: packed.result() }
}

async function verifyLines(content: AsyncIterable<Uint8Array>, verifier: ExportVerifier): Promise<void> {
  const lines = new ExportLines(verifier)
  for await (const chunk of content) runSync(lines.chunk(chunk), nodeCrypto)
  runSync(lines.end(), nodeCrypto)
}

async function* measured(content: AsyncIterable<Uint8Array>, digest: Digest): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of content) {
    digest.update(chunk)
    yield chunk
  }
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of content) {
    chunks.push(chunk)
    size += chunk.length
    if (size > documentBytesMax) return undefined
  }
  return Buffer.concat(chunks).toString()
}

function streamHash(): StreamHash {
  const hash = createHash('sha256')
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() }
}

function noKeys(path: string): InconclusiveError {
  return new InconclusiveError(
    `There are no keys to verify ${path} with: it has no manifest beside it (${path}.manifest.json).`,
    'Give the manifest with --manifest, or public keys with --keys: what /.well-known/provenance-keys.json of the Hub answers.',
  )
}

/** Draws no conclusion: the content of an unusable manifest proves nothing, not even that the file is bad. */
function unusableManifest(place: string, problem: string): InconclusiveError {
  return new InconclusiveError(`The manifest ${place} cannot be used: ${detailOf(problem)}.`, manifestFix)
}

/** Returns the problem without its code. */
function detailOf(manifestProblem: string): string {
  return manifestProblem.replace(/^manifest-\w+: (the manifest cannot be read: )?/, '')
}
