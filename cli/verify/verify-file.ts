import { createHash } from 'node:crypto'
import { runSync } from '../../provenance/computation.ts'
import { ExportLines } from '../../provenance/export-lines.ts'
import { ExportVerifier, type FileDigest, type VerificationReport } from '../../provenance/export-verifier.ts'
import { ProvenanceError } from '../../provenance/index.ts'
import { type PreparedManifest, prepareManifest } from '../../provenance/prepared-manifest.ts'
import type { StreamHash } from '../../provenance/stream-hash.ts'
import { nodeCrypto } from '../../server/modules/hub/node-crypto.ts'
import { CannotCheckError } from './cannot-check.ts'
import { verifyCsvRows } from './csv-rows.ts'
import { verifyDocument } from './document.ts'
import { type FileFormat, formatOf } from './file-format.ts'
import { type FoundManifest, findManifest } from './manifest-file.ts'
import { verifyParquetRows } from './parquet-rows.ts'
import { readKeys, type Trust, trustOnFirstUse, trustPinned } from './trusted-keys.ts'
import { DamagedFileError, Digest, documentBytesMax, VerifiedFile } from './verified-file.ts'

export interface VerifyOptions {
  /** Path or URL. */
  manifest?: string
  /** Path or URL. */
  keys?: string
  /** How long reading a row group of Parquet may take before it is given up. */
  parquetGroupMs?: number
}

export interface FileVerification {
  file: string
  /** Undefined where it was not looked at. */
  format: FileFormat | undefined
  /** Where the manifest is, and what it says, as far as it can be read. */
  manifest: { place: string; prepared: PreparedManifest | undefined } | undefined
  /** One sentence. */
  trust: string
  report: VerificationReport
}

/**
 * Verifies a file with nothing but what is given: no server, no database, and no network unless an address is given.
 * Throws CannotCheckError where nothing can be said.
 */
export async function verifyFile(path: string, options: VerifyOptions): Promise<FileVerification> {
  const file = await VerifiedFile.open(path)
  const found = await findManifest(path, options.manifest)
  const pinned = options.keys === undefined ? undefined : await readKeys(options.keys)
  if (found === undefined && pinned === undefined) throw noKeys(path)
  const { prepared, problem } = found === undefined ? {} : readManifest(found)
  const manifest = found && { place: found.place, prepared }
  const trust: UsedTrust = pinned ? trustPinned(pinned, options.keys!, prepared?.members) : manifestTrust(prepared)
  const verifier = new ExportVerifier(trust.keys, prepared)
  for (const each of [problem, trust.problem]) if (each !== undefined) verifier.wrong(each)
  // Without a key there is nothing to hold any row against.
  const isHopeless = trust.keys.size === 0 && trust.problem !== undefined
  const format = isHopeless ? undefined : (prepared?.head.export.format ?? (await formatOf(file)))
  const digest =
    format && (await verifyContent(file, format, verifier, { trust, prepared, parquetGroupMs: options.parquetGroupMs }))
  const report = runSync(verifier.finish(digest), nodeCrypto)
  if (format !== undefined && prepared === undefined && report.checked === 0 && report.verified) throw nothingIn(path)
  const basis = prepared ? trust.basis : `${trust.basis}; completeness is unknown, because there is no manifest`
  return { file: path, format, manifest, trust: basis, report }
}

function readManifest({ source }: FoundManifest): { prepared?: PreparedManifest; problem?: string } {
  try {
    return { prepared: runSync(prepareManifest(source, streamHash()), nodeCrypto) }
  } catch (error) {
    if (error instanceof ProvenanceError) return { problem: `${error.code}: ${error.message}` }
    throw error
  }
}

type UsedTrust = Trust & { problem?: string }

function manifestTrust(prepared: PreparedManifest | undefined): UsedTrust {
  try {
    if (prepared) return trustOnFirstUse(prepared.members.keys ?? null)
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
  }
  return {
    keys: new Map(),
    basis: 'none: the manifest brings no keys that can be read, and there are no --keys',
    problem: 'manifest-keys: the manifest brings no keys that can be read',
  }
}

/** Answers the digest of the file that the manifest is about, where this is it, packed or not. */
async function verifyContent(
  file: VerifiedFile,
  format: FileFormat,
  verifier: ExportVerifier,
  {
    trust,
    prepared,
    parquetGroupMs,
  }: { trust: Trust; prepared: PreparedManifest | undefined; parquetGroupMs?: number | undefined },
): Promise<FileDigest | undefined> {
  if (format === 'parquet') {
    if (file.isGzip) throw new CannotCheckError(`${file.path} is Parquet inside gzip.`, 'Unpack it with gunzip first.')
    await verifyParquetRows(file, verifier, parquetGroupMs)
    return file.digest()
  }
  const packed = new Digest()
  const unpacked = new Digest()
  const isPacked = prepared?.head.export.compression === 'gzip'
  const content = file.isGzip && !isPacked ? measured(file.content(), unpacked) : file.content(packed)
  try {
    if (format === 'jsonl') await verifyLines(content, verifier)
    else if (format === 'csv') await verifyCsvRows(content, verifier)
    else verifyDocument((await textOf(content)) ?? '', verifier, trust.keys)
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error
    verifier.wrong(`file-damaged: ${error.message}, and what is behind the damage was not read`)
    return file.isGzip && !isPacked ? undefined : file.digest()
  }
  if (file.isGzip && !isPacked) return unpacked.result()
  return isPacked && !file.isGzip ? undefined : packed.result()
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

function noKeys(path: string): CannotCheckError {
  return new CannotCheckError(
    `There are no keys to verify ${path} with: it has no manifest beside it (${path}.manifest.json).`,
    'Give the manifest with --manifest, or public keys with --keys: what /.well-known/provenance-keys.json of the Hub answers.',
  )
}

function nothingIn(path: string): CannotCheckError {
  return new CannotCheckError(
    `${path} has no records.`,
    'Give the manifest of the export, which tells how many it has.',
  )
}
