import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import type { Storage } from '../../../storage/storage.ts'
import type { ReservedBytes } from '../files/reserved-bytes.ts'

/** A complete file for the archive. */
export interface PackedFile {
  name: string
  sizeBytes: number
  /** 64 hexadecimal digits. */
  sha256: string
  open(): Promise<Readable>
}

/** Returns a small file, which stays in memory. */
export function textFile(name: string, text: string): PackedFile {
  const bytes = Buffer.from(text)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { name, sizeBytes: bytes.length, sha256, open: async () => Readable.from([bytes]) }
}

/** Returns a file of the storage. Reads it once for its hash. */
export async function storedFile(storage: Storage, key: string, name: string): Promise<PackedFile> {
  const digest = createHash('sha256')
  let sizeBytes = 0
  const open = async () => {
    const content = await storage.read(key)
    if (content === undefined) throw new Error(`${key} is no longer in the storage`)
    return content
  }
  for await (const chunk of await open()) {
    digest.update(chunk as Buffer)
    sizeBytes += (chunk as Buffer).length
  }
  return { name, sizeBytes, sha256: digest.digest('hex'), open }
}

const flushUnits = 64 * 1024

/** Writes lines into a file of the storage, in bounded memory. */
export class LinesFile {
  readonly #storage: Storage
  readonly #key: string
  readonly #name: string
  readonly #reserved: ReservedBytes
  readonly #stream = new PassThrough({ highWaterMark: 4 * flushUnits })
  readonly #written: Promise<void>
  #text = ''
  lines = 0

  constructor(storage: Storage, key: string, options: { name: string; reserved: ReservedBytes }) {
    this.#storage = storage
    this.#key = key
    this.#name = options.name
    this.#reserved = options.reserved
    this.#written = storage.write(key, this.#stream)
    // The next flush awaits the promise.
    this.#written.catch(() => {})
  }

  async add(line: string): Promise<void> {
    this.lines += 1
    this.#text += `${line}\n`
    if (this.#text.length >= flushUnits) await this.#flush()
  }

  async finish(): Promise<PackedFile> {
    await this.#flush()
    this.#stream.end()
    await this.#written
    return storedFile(this.#storage, this.#key, this.#name)
  }

  /** Aborts the file; nothing of it remains. Does nothing after {@link finish}. */
  async abort(): Promise<void> {
    this.#stream.destroy(new Error('the evidence pack is abandoned'))
    await this.#written.catch(() => {})
  }

  async #flush(): Promise<void> {
    const text = this.#text
    this.#text = ''
    await this.#reserved.add(Buffer.byteLength(text))
    // A failed storage stops reading, so `drain` would never fire.
    if (!this.#stream.write(text)) await Promise.race([once(this.#stream, 'drain'), this.#written])
  }
}
