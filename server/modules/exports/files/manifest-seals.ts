import { createHash, hash } from 'node:crypto'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { ManifestSeal } from '../../../../provenance/export/export-manifest.ts'
import { canonicalize } from '../../../../provenance/index.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { SealedRecords } from '../../sealing/sealed-records-types.ts'
import type { EntryPart } from './export-parts-types.ts'
import type { ReservedBytes } from './reserved-bytes.ts'

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
