import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ExportLines } from '../../provenance/export/export-lines.ts'
import { ExportVerifier, type VerificationReport } from '../../provenance/export/export-verifier.ts'
import { type PreparedManifest, prepareManifest } from '../../provenance/export/prepared-manifest.ts'
import { isJsonObject, type JsonValue, type KeyRing, verifyDeletionCertificateSync } from '../../provenance/index.ts'
import { runSync } from '../../provenance/sync-async-runner.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { findManifest } from './manifest-file.ts'
import { ArchiveError } from './tar-entries.ts'
import type { Digest } from './verified-file.ts'

const certificateBytesMax = 4 * 1024 * 1024
const lineFeed = 10

/** Reads the manifest of the records, which needs two passes, by way of a file. Throws ProvenanceError. */
export async function readManifestFile(content: AsyncIterable<Uint8Array>, path: string): Promise<PreparedManifest> {
  await pipeline(Readable.from(content), createWriteStream(path, { mode: 0o600 }))
  const hash = createHash('sha256')
  const streamHash = { update: (bytes: Uint8Array) => void hash.update(bytes), digest: () => hash.digest() }
  return runSync(prepareManifest((await findManifest(path, path))!.source, streamHash), nodeCrypto)
}

/**
 * Verifies rows of records.
 *
 * @param digest has the digest of all content at its end; required with a manifest
 */
export async function verifyRecordLines(
  content: AsyncIterable<Uint8Array>,
  digest: Digest | undefined,
  keys: KeyRing,
  manifest: PreparedManifest | undefined,
): Promise<VerificationReport> {
  const verifier = new ExportVerifier(keys, manifest)
  const lines = new ExportLines(verifier)
  for await (const chunk of content) runSync(lines.chunk(chunk), nodeCrypto)
  runSync(lines.end(), nodeCrypto)
  return runSync(verifier.finish(digest?.result()), nodeCrypto)
}

/** Verifies deletion certificates, one a line. */
export async function verifyCertificateLines(
  content: AsyncIterable<Uint8Array>,
  keys: KeyRing,
): Promise<VerificationReport> {
  const verifier = new ExportVerifier(keys)
  let line = 0
  for await (const text of linesOf(content)) {
    line += 1
    const json = parsed(text)
    const result = isJsonObject(json) ? verifyDeletionCertificateSync(json, keys, nodeCrypto) : undefined
    const id = isJsonObject(json) && typeof json.record_id === 'string' ? json.record_id : null
    const problems = result?.failures.map(({ check, detail }) => `certificate: ${check}: ${detail}`)
    verifier.judged(line, id, problems ?? ['certificate: it is not a JSON object'])
  }
  return runSync(verifier.finish(undefined), nodeCrypto)
}

async function* linesOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of content) {
    let from = 0
    for (let to = chunk.indexOf(lineFeed); to >= 0; to = chunk.indexOf(lineFeed, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, to)]).toString()
      parts = []
      size = 0
      from = to + 1
    }
    parts.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > certificateBytesMax) throw new ArchiveError(`a certificate has more than ${certificateBytesMax} bytes`)
  }
  if (size > 0) yield Buffer.concat(parts).toString()
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return null
  }
}
