import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { FileDigest } from '../../provenance/export/export-verifier.ts'
import { isDeletionCertificate, isJsonObject, type JsonValue } from '../../provenance/index.ts'
import { fileProblem } from '../../server/startup-error.ts'
import { InconclusiveError } from './inconclusive-error.ts'

const readBytes = 256 * 1024
/** Maximum unpacked bytes of a document that does not have one row per line. */
export const documentBytesMax = 64 * 1024 * 1024

/** Signals that the file cannot be unpacked beyond this point. */
export class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError'
}

/** The file to verify. Each read starts at the beginning. */
export class VerifiedFile {
  readonly path: string
  readonly sizeBytes: number
  readonly isGzip: boolean
  /** The first bytes of the unpacked content. */
  readonly head: Uint8Array

  private constructor(path: string, sizeBytes: number, isGzip: boolean, head: Uint8Array) {
    this.path = path
    this.sizeBytes = sizeBytes
    this.isGzip = isGzip
    this.head = head
  }

  /** Opens a file. Throws InconclusiveError. */
  static async open(path: string): Promise<VerifiedFile> {
    try {
      const { size } = await stat(path)
      const file = await open(path)
      const bytes = new Uint8Array(4096)
      const { bytesRead } = await file.read(bytes).finally(() => file.close())
      const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
      const raw = new VerifiedFile(path, size, isGzip, bytes.subarray(0, bytesRead))
      return isGzip ? new VerifiedFile(path, size, true, await firstUnpacked(raw)) : raw
    } catch (error) {
      throw new InconclusiveError(`${path} cannot be read: ${fileProblem(error)}.`, 'See that the name is right.')
    }
  }

  /**
   * Yields the unpacked content.
   *
   * @param digest takes the bytes of the file as stored
   * @throws DamagedFileError
   */
  async *content(digest?: Digest): AsyncGenerator<Uint8Array, void> {
    const raw = createReadStream(this.path, { highWaterMark: readBytes })
    if (!this.isGzip) {
      for await (const chunk of raw as AsyncIterable<Uint8Array>) {
        digest?.update(chunk)
        yield chunk
      }
      return
    }
    const unpacked = createGunzip({ chunkSize: readBytes })
    const done = pipeline(raw, tap(digest), unpacked)
    // Ignored here: the read below fails with the same error.
    done.catch(() => {})
    try {
      yield* unpacked as AsyncIterable<Uint8Array>
      await done
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (!code.startsWith('Z_') && code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
      throw new DamagedFileError('it is not whole gzip')
    } finally {
      raw.destroy()
      unpacked.destroy()
    }
  }

  /** Returns the unpacked content; undefined if it exceeds the maximum of a document. Throws DamagedFileError. */
  async document(): Promise<Uint8Array | undefined> {
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of this.content()) {
      chunks.push(chunk)
      size += chunk.length
      if (size > documentBytesMax) return undefined
    }
    return Buffer.concat(chunks)
  }

  /** Computes the digest of the stored file if nothing else reads it. */
  async digest(): Promise<FileDigest> {
    const digest = new Digest()
    for await (const chunk of createReadStream(this.path, { highWaterMark: readBytes }))
      digest.update(chunk as Uint8Array)
    return digest.result()
  }
}

/** Computes size and SHA-256 of the bytes it gets. */
export class Digest {
  readonly #hash: Hash = createHash('sha256')
  #sizeBytes = 0
  #result: FileDigest | undefined

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk)
    this.#sizeBytes += chunk.length
  }

  /** Returns the result; no update may follow. */
  result(): FileDigest {
    this.#result ??= { sizeBytes: this.#sizeBytes, sha256: this.#hash.digest() }
    return this.#result
  }
}

function tap(digest: Digest | undefined) {
  return async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      digest?.update(chunk)
      yield chunk
    }
  }
}

/** Returns the first bytes, or none if the file does not unpack: the full read reports that. */
async function firstUnpacked(file: VerifiedFile): Promise<Uint8Array> {
  try {
    for await (const chunk of file.content()) return chunk.slice(0, 4096)
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error
  }
  return new Uint8Array(0)
}

/** The format of a file. `json` is one document: a record, an API response with many, a proof bundle, or a deletion certificate. */
export type FileFormat = 'jsonl' | 'csv' | 'parquet' | 'json' | 'evidence-pack'

/** Returns the format of a file without a manifest, by its content and then by its name. Throws InconclusiveError. */
export async function formatOf(file: VerifiedFile): Promise<FileFormat> {
  const name = file.path.replace(/\.gz$/i, '').toLowerCase()
  const head = Buffer.from(file.head).toString()
  if (head.startsWith('PAR1') || name.endsWith('.parquet')) return 'parquet'
  if (head.startsWith('record_id,') || name.endsWith('.csv')) return 'csv'
  if (/^\s*[{[]/.test(head)) return (await isDocument(file, head)) ? 'json' : 'jsonl'
  if (/\.(jsonl|ndjson|json)$/.test(name)) return 'jsonl'
  throw new InconclusiveError(
    `${file.path} ${head === '' ? 'is empty' : 'is neither JSON, CSV nor Parquet'}.`,
    'Give a file of an export, or a record, a page of records, a proof bundle or a deletion certificate as the API answers it.',
  )
}

async function isDocument(file: VerifiedFile, head: string): Promise<boolean> {
  const firstLine = head.includes('\n') ? parsed(head.slice(0, head.indexOf('\n'))) : undefined
  if (firstLine !== undefined && isRow(firstLine)) return false
  const whole = await file.document().catch(() => undefined)
  return whole !== undefined && parsed(Buffer.from(whole).toString()) !== undefined
}

function isRow(value: JsonValue): boolean {
  return isJsonObject(value) && Object.hasOwn(value, 'record_id') && !isDeletionCertificate(value)
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
