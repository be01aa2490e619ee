import { createHash, hash } from 'node:crypto'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import {
  type ExportManifest,
  exportStatementText,
  type ManifestSeal,
} from '../../../../provenance/export/export-manifest.ts'
import { canonicalize, keyDocumentEntry, signedNote } from '../../../../provenance/index.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { ProvenanceSigner, PublishedKey } from '../../keys/keys-types.ts'
import type { LogHead, RangeProof } from '../../log/log-types.ts'
import type { LogIndexRange, SealedRecords } from '../../sealing/sealed-records-types.ts'
import type { RecordFileOrder } from '../exports-types.ts'
import type { EntryPart } from './export-parts-types.ts'
import type { ReservedBytes } from './reserved-bytes.ts'

export interface ManifestParts {
  order: RecordFileOrder
  logName: string
  span: LogIndexRange
  head: LogHead
  proof: RangeProof
  file: ExportManifest['file']
  leftOut: number
  keys: readonly PublishedKey[]
  /** The hash of the seals; only with provenance. */
  sealsSha256: string | undefined
}

type ManifestHead = Omit<ExportManifest, 'statement' | 'seals'>

const sha256 = (bytes: Uint8Array) => hash('sha256', bytes, 'buffer')
const base64 = (hashes: readonly Uint8Array[]) => hashes.map((bytes) => Buffer.from(bytes).toString('base64'))

/** Writes the manifest. Its `seals`, if any, are streamed from their own file. */
export async function writeManifest(
  storage: Storage,
  key: string,
  parts: ManifestParts,
  signer: ProvenanceSigner,
  sealsKey: string | undefined,
): Promise<void> {
  const head = headOf(parts)
  const text = exportStatementText(parts.logName, head.export.job_id, hash('sha256', canonicalize(head)))
  const statement = signedNote(text, parts.logName, signer.keyId, signer.sign(Buffer.from(text)))
  const opening = JSON.stringify({ ...head, statement }, undefined, 2)
  if (sealsKey === undefined) return storage.write(key, Buffer.from(`${opening}\n`))
  const seals = await storage.read(sealsKey)
  if (seals === undefined) throw new Error(`${sealsKey} is no longer in the storage`)
  await storage.write(key, Readable.from(withSeals(opening, seals), { objectMode: false }))
}

async function* withSeals(opening: string, seals: Readable): AsyncGenerator<Buffer> {
  yield Buffer.from(`${opening.slice(0, -2)},\n  "seals": [\n`)
  for await (const piece of seals) yield piece as Buffer
  yield Buffer.from('\n]}\n')
}

function headOf({ order, logName, span, head, proof, file, leftOut, keys, sealsSha256 }: ManifestParts): ManifestHead {
  return {
    manifest_version: 1,
    export: {
      job_id: order.jobId,
      created_at: order.createdAt,
      format: order.format,
      compression: order.compression,
      filter: order.filter,
      record_types: order.recordTypes,
      include_provenance: order.includeProvenance,
      ...(order.mayOmit && { content_omitted: order.mayOmit }),
    },
    log: {
      name: logName,
      from: span.from,
      to: span.to,
      tree_size: head.treeSize,
      checkpoint: head.checkpoint,
      left: base64(proof.left),
      right: base64(proof.right),
    },
    file,
    counts: { exported: file.rows, left_out: leftOut },
    keys: { keys: keys.map((key) => keyDocumentEntry(key, sha256)) },
    ...(sealsSha256 === undefined ? {} : { seals_sha256: sealsSha256 }),
  }
}

const flushUnits = 64 * 1024

/**
 * Writes the elements of `seals` to a file of their own during the export. The members before them in the manifest are
 * known only at the end, and the elements may be too many to hold.
 */
export class SealsWriter {
  readonly #records: Pick<SealedRecords, 'noteOf'>
  readonly #logName: string
  readonly #stream = new PassThrough({ highWaterMark: 4 * flushUnits })
  readonly #written: Promise<void>
  readonly #digest = createHash('sha256')
  readonly #reserved: ReservedBytes
  #text = ''
  #bytes = 0
  #isFirst = true
  /** Leaves of the current entry that have a row. */
  readonly #rows = new Set<number>()

  constructor(
    storage: Storage,
    key: string,
    options: { records: Pick<SealedRecords, 'noteOf'>; logName: string; reserved: ReservedBytes },
  ) {
    this.#records = options.records
    this.#logName = options.logName
    this.#reserved = options.reserved
    this.#written = storage.write(key, this.#stream)
    // The next flush awaits the promise.
    this.#written.catch(() => {})
  }

  /** Bytes of all elements so far. */
  get bytes(): number {
    return this.#bytes
  }

  async add(parts: readonly EntryPart[]): Promise<void> {
    for (const part of parts) {
      for (const { leafIndex } of part.records) this.#rows.add(leafIndex)
      if (!part.isLast) continue
      const element = canonicalize(elementOf(part, this.#rows, this.#records, this.#logName))
      this.#rows.clear()
      this.#digest.update(`${element}\n`)
      this.#text += this.#isFirst ? element : `,\n${element}`
      this.#isFirst = false
    }
    if (this.#text.length >= flushUnits) await this.#flush()
  }

  /** Completes the file. Returns the SHA-256 of the elements, each followed by \n, in hexadecimal. */
  async finish(): Promise<string> {
    await this.#flush()
    this.#stream.end()
    await this.#written
    return this.#digest.digest('hex')
  }

  /** Aborts the file; nothing of it remains. */
  async abort(reason: Error): Promise<void> {
    this.#stream.destroy(reason)
    await this.#written.catch(() => {})
  }

  async #flush(): Promise<void> {
    const text = this.#text
    this.#text = ''
    const bytes = Buffer.byteLength(text)
    this.#bytes += bytes
    await this.#reserved.add(bytes)
    // A failed storage stops reading, so `drain` would never fire.
    if (!this.#stream.write(text)) await Promise.race([once(this.#stream, 'drain'), this.#written])
  }
}

function elementOf(
  { seal, logLeaf }: EntryPart,
  rows: ReadonlySet<number>,
  records: Pick<SealedRecords, 'noteOf'>,
  logName: string,
): ManifestSeal {
  if (rows.size > 0 && seal) return { seal_id: seal.seal_id, ...blindedLeaves(seal.leaves, rows) }
  const note = seal && records.noteOf(seal, logName)
  if (logLeaf === undefined) throw new Error('the leaf of an entry without rows was not read')
  const isOfLog = note !== undefined && hash('sha256', `\0${note}`, 'buffer').equals(logLeaf)
  return isOfLog ? { note } : { leaf: Buffer.from(logLeaf).toString('base64') }
}

function blindedLeaves(leaves: Uint8Array, rows: ReadonlySet<number>): { blinded?: Record<string, string> } {
  const blinded: Record<string, string> = {}
  const count = Math.floor(leaves.length / 32)
  if (rows.size === count) return {}
  for (let index = 0; index < count; index++) {
    if (!rows.has(index)) blinded[index] = Buffer.from(leaves.subarray(32 * index, 32 * index + 32)).toString('base64')
  }
  return Object.keys(blinded).length === 0 ? {} : { blinded }
}
