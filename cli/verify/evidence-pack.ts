import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordTypes } from '../../contract/literals.ts'
import { duplicateMember } from '../../provenance/duplicate-members.ts'
import {
  checkEvidenceManifest,
  type EvidenceFindings,
  type EvidenceManifest,
  evidenceFiles,
  evidenceManifestIn,
} from '../../provenance/evidence-pack.ts'
import type { VerificationReport } from '../../provenance/export/export-verifier.ts'
import type { PreparedManifest } from '../../provenance/export/prepared-manifest.ts'
import { Findings, type VerificationFailure } from '../../provenance/findings.ts'
import { isJsonObject, type JsonObject, type KeyRing, ProvenanceError } from '../../provenance/index.ts'
import { runSync } from '../../provenance/sync-async-runner.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { readManifestFile, verifyCertificateLines, verifyRecordLines } from './pack-files.ts'
import { ArchiveError, type TarEntry, tarEntries } from './tar-entries.ts'
import { type Trust, trustOfPack } from './trusted-keys.ts'
import { DamagedFileError, Digest, type VerifiedFile } from './verified-file.ts'

/** Maximum bytes of the files that are read into memory. */
const manifestBytesMax = 1024 * 1024
const keysBytesMax = 16 * 1024 * 1024
/**
 * The manifest of the records is written to a temporary folder. It consists of hashes, which do not compress, so one that
 * unpacks to much more than the archive was not written by the Hub.
 */
const recordsManifestBytesMin = 16 * 1024 * 1024
const packedRatioMax = 20

/** The facts of a verified evidence pack that the report shows. */
export interface CheckedPack {
  /** Undefined if the manifest is unreadable. */
  manifest: EvidenceManifest | undefined
  /** Undefined if the records were not reached. */
  records: VerificationReport | undefined
  /** The range of the log that the records cover. */
  range: { from: number; to: number; treeSize: number } | undefined
  certificates: number
  eventRows: number
  files: number
  /** `enclosed`: by checkpoints from before and after the period, or from the first entry of the log on. */
  completeness: 'enclosed' | 'open-start' | 'not-shown'
}

export interface PackVerification {
  pack: CheckedPack
  trust: Trust
  report: VerificationReport
}

/** Returns whether a file is a tar archive; the Hub writes no other than evidence packs. */
export function isArchive({ isGzip, head }: VerifiedFile): boolean {
  return isGzip && Buffer.from(head).toString('latin1', 257, 262) === 'ustar'
}

/**
 * Verifies an evidence pack as a stream. Writes nothing but the manifest of its records, into a temporary folder, so
 * that a malicious archive can neither overwrite files nor fill the disk.
 *
 * @param pinned the trusted keys and their place; by default those of the pack
 */
export async function verifyEvidencePack(
  file: VerifiedFile,
  pinned: { keys: KeyRing; place: string } | undefined,
): Promise<PackVerification> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-verify-'))
  const recordsManifestBytesMax = recordsManifestBytesMin + packedRatioMax * file.sizeBytes
  const verifier = new PackVerifier({ folder, pinned, recordsManifestBytesMax })
  try {
    for await (const entry of tarEntries(file.content())) await verifier.take(entry)
    verifier.end()
  } catch (error) {
    if (error instanceof ArchiveError) verifier.wrong(`pack-malformed: ${error.message}`)
    else if (error instanceof ProvenanceError) verifier.wrong(`pack-malformed: ${error.message}`)
    else if (error instanceof DamagedFileError) verifier.wrong(`file-damaged: ${error.message}`)
    else throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return verifier.result()
}

interface PackVerifierOptions {
  folder: string
  pinned: { keys: KeyRing; place: string } | undefined
  recordsManifestBytesMax: number
}

class PackVerifier {
  readonly #options: PackVerifierOptions
  readonly #findings = new Findings()
  readonly #reports: { name: string; report: VerificationReport }[] = []
  #trust: Trust = { keys: new Map(), basis: 'none: the pack brings no keys that can be read' }
  #json: JsonObject | undefined
  #log: EvidenceFindings | undefined
  #prepared: PreparedManifest | undefined
  readonly #pack: CheckedPack = {
    ...{ manifest: undefined, records: undefined, range: undefined },
    ...{ certificates: 0, eventRows: 0, files: 0, completeness: 'not-shown' },
  }

  constructor(options: PackVerifierOptions) {
    this.#options = options
  }

  wrong(problem: string): void {
    this.#findings.whole(problem)
  }

  async take(entry: TarEntry): Promise<void> {
    const { manifest, files } = this.#pack
    if (manifest === undefined) return this.#takeManifest(entry)
    const stated = manifest.files[files]
    if (stated === undefined || stated.name !== entry.name) {
      throw new ArchiveError(`it has ${entry.name} where its manifest lists ${stated?.name ?? 'no further file'}`)
    }
    if (stated.size_bytes !== entry.size) {
      throw new ArchiveError(`${entry.name} has ${entry.size} bytes, and the manifest says ${stated.size_bytes}`)
    }
    const digest = new Digest()
    await this.#verify(entry, digest)
    if (Buffer.from(digest.result().sha256).toString('hex') !== stated.sha256) {
      this.wrong(`file-hash: ${entry.name} does not have the SHA-256 that the manifest states`)
    }
    this.#pack.files += 1
  }

  end(): void {
    const { manifest, files } = this.#pack
    if (manifest === undefined) throw new ArchiveError('it is empty')
    const absent = evidenceFiles.slice(files)
    if (absent.length > 0) throw new ArchiveError(`it ends before ${absent.join(', ')}`)
    const { range, records } = this.#pack
    if (!this.#log || !range || !records) throw new ArchiveError('it has no records that are proven')
  }

  result(): PackVerification {
    const failures: VerificationFailure[] = this.#findings.list()
    let failureCount = this.#findings.total
    for (const { name, report } of this.#reports) {
      failureCount += report.failureCount
      failures.push(...report.failures.map((failure) => ({ ...failure, reason: `${name}: ${failure.reason}` })))
    }
    const sum = (member: 'failed' | 'signatures') => this.#reports.reduce((all, { report }) => all + report[member], 0)
    const { records, manifest, range } = this.#pack
    if (failureCount === 0 && manifest !== undefined && range !== undefined) {
      this.#pack.completeness = this.#log?.sizeBefore === undefined && range.from > 0 ? 'open-start' : 'enclosed'
    }
    const report: VerificationReport = {
      verified: failureCount === 0,
      checked: records?.checked ?? 0,
      failed: sum('failed'),
      withoutProvenance: 0,
      missing: records?.missing ?? 0,
      failures,
      failureCount,
      signatures: sum('signatures'),
      manifest: undefined,
    }
    return { pack: this.#pack, trust: this.#trust, report }
  }

  async #takeManifest(entry: TarEntry): Promise<void> {
    if (entry.name !== 'manifest.json') throw new ArchiveError('its first file is not manifest.json')
    this.#json = await jsonOf(entry, manifestBytesMax)
    const manifest = evidenceManifestIn(this.#json)
    // Keys, records and their manifest carry the proof: a pack that lists other files proves nothing.
    if (manifest.files.map(({ name }) => name).join('\n') !== evidenceFiles.join('\n')) {
      throw new ArchiveError(`its manifest does not list ${evidenceFiles.join(', ')}, in this order`)
    }
    this.#pack.manifest = manifest
  }

  async #verify({ name, size, content }: TarEntry, digest: Digest): Promise<void> {
    const read = measured(content, digest)
    const { keys } = this.#trust
    switch (name) {
      case 'keys.json':
        return this.#takeKeys(await jsonOf({ name, size, content: read }, keysBytesMax))
      case 'records.jsonl.manifest.json':
        if (size > this.#options.recordsManifestBytesMax) throw new ArchiveError(`${name} has too many bytes: ${size}`)
        this.#prepared = await readManifestFile(read, join(this.#options.folder, 'records.manifest.json'))
        return this.#checkRange(this.#prepared)
      case 'records.jsonl':
        this.#pack.records = await verifyRecordLines(read, digest, keys, this.#prepared)
        return this.#keep(name, this.#pack.records)
      case 'sign-ins.jsonl':
      case 'configuration.jsonl':
      case 'retention-changes.jsonl': {
        const report = await verifyRecordLines(read, undefined, keys, undefined)
        this.#pack.eventRows += report.checked
        return this.#keep(name, report)
      }
      case 'deletion-certificates.jsonl': {
        const report = await verifyCertificateLines(read, keys)
        this.#pack.certificates = report.checked
        return this.#keep(name, report)
      }
      default:
        for await (const _ of read);
    }
  }

  #keep(name: string, report: VerificationReport): void {
    this.#reports.push({ name, report })
  }

  #takeKeys(document: JsonObject): void {
    this.#trust = trustOfPack(document, this.#options.pinned)
    this.#log = runSync(checkEvidenceManifest(this.#json!, this.#trust.keys), nodeCrypto)
    for (const problem of this.#log.problems) this.wrong(problem)
  }

  /** Checks that the manifest of the records is about this pack, and that its range covers the period. */
  #checkRange({ head }: PreparedManifest): void {
    const { pack, log } = this.#pack.manifest!
    const { from, to, tree_size: treeSize } = head.log
    this.#pack.range = { from, to, treeSize }
    const period = JSON.stringify([pack.from, pack.to])
    const { created_at__gte, created_at__lt, ...others } = head.export.filter
    const isOfPack =
      head.export.job_id === pack.job_id &&
      head.log.name === log.name &&
      head.log.checkpoint === log.checkpoint &&
      JSON.stringify([created_at__gte, created_at__lt]) === period &&
      Object.keys(others).length === 0
    if (!isOfPack) this.wrong('records-manifest: the manifest of the records is not about this pack and its period')
    if (recordTypes.some((type) => !head.export.record_types.includes(type)) || !head.export.include_provenance) {
      this.wrong('records-manifest: the records are not of all types, or have no provenance')
    }
    const { sizeBefore, sizeAfter } = this.#log ?? {}
    if (sizeBefore !== undefined && from > sizeBefore) {
      this.wrong(`log-range: entries ${sizeBefore} to ${from} after the checkpoint from before the period are missing`)
    }
    if (sizeAfter !== undefined && to < sizeAfter) {
      this.wrong(`log-range: entries ${to} to ${sizeAfter} before the checkpoint from after the period are missing`)
    }
  }
}

async function* measured(content: AsyncIterable<Uint8Array>, digest: Digest): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of content) {
    digest.update(chunk)
    yield chunk
  }
}

/** Reads a JSON object. Throws ArchiveError. */
async function jsonOf({ name, size, content }: TarEntry, bytesMax: number): Promise<JsonObject> {
  if (size > bytesMax) throw new ArchiveError(`${name} has more than ${bytesMax} bytes`)
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  try {
    const json = JSON.parse(text)
    if (isJsonObject(json) && duplicateMember(text) === undefined) return json
  } catch {
    // Reported below.
  }
  throw new ArchiveError(`${name} is not one JSON object with each member once`)
}
