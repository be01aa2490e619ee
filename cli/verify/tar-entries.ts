/** Signals that an archive is not as the Hub writes it. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
}

/** A file of an archive. `content` must be read to its end before the next entry. */
export interface TarEntry {
  name: string
  size: number
  content: AsyncGenerator<Uint8Array, void>
}

const blockBytes = 512

/**
 * Yields the files of a tar archive (POSIX ustar) in order, without storing anything. Accepts only what the Hub writes:
 * regular files, without extended headers. So nothing of a header is held in memory but its block.
 *
 * @param chunks the archive
 * @throws ArchiveError
 */
export async function* tarEntries(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void> {
  const bytes = new ByteReader(chunks)
  try {
    for (;;) {
      const header = await bytes.block()
      if (header === undefined) throw new ArchiveError('the archive ends early')
      if (isZero(header)) break
      const { name, size } = headerOf(header)
      const content = bytes.take(size)
      yield { name, size, content }
      // Skips what the reader did not take.
      for await (const _ of content);
      const padding = (blockBytes - (size % blockBytes)) % blockBytes
      for await (const _ of bytes.take(padding));
    }
    for (let block = await bytes.block(); block !== undefined; block = await bytes.block()) {
      if (!isZero(block)) throw new ArchiveError('something follows the end of the archive')
    }
  } finally {
    await bytes.close()
  }
}

function headerOf(block: Uint8Array): { name: string; size: number } {
  const header = Buffer.from(block)
  if (header.toString('latin1', 257, 262) !== 'ustar' || checksumOf(header) !== octal(header, 148, 8)) {
    throw new ArchiveError('it has something that is not the header of a file')
  }
  const type = header[156]
  const hasPrefix = header[345] !== 0
  const name = textAt(header, 0, 100)
  if ((type !== 0x30 && type !== 0) || hasPrefix || !/^[a-z0-9][a-z0-9.-]*$/.test(name)) {
    throw new ArchiveError(`it has the entry ${JSON.stringify(name)}, which is no file of an evidence pack`)
  }
  const size = sizeOf(header)
  if (!Number.isSafeInteger(size) || size < 0) throw new ArchiveError(`the size of ${name} is no size`)
  return { name, size }
}

/** Returns the size: in octal, or for 8 GiB and more in base 256. */
function sizeOf(header: Buffer): number {
  if (header[124] !== 0x80) return octal(header, 124, 12)
  return header.readUIntBE(130, 6)
}

function octal(header: Buffer, at: number, length: number): number {
  const text = textAt(header, at, length).trim()
  return /^[0-7]{1,11}$/.test(text) ? Number.parseInt(text, 8) : Number.NaN
}

function textAt(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length)
  const end = field.indexOf(0)
  return field.toString('latin1', 0, end < 0 ? length : end)
}

function checksumOf(header: Buffer): number {
  let sum = 0
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte
  return sum
}

function isZero(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0)
}

/** Cuts a stream of chunks, in the memory of one chunk. */
class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array(0)

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#source = chunks[Symbol.asyncIterator]()
  }

  /** Returns the next block; undefined at the end. */
  async block(): Promise<Uint8Array | undefined> {
    const parts: Uint8Array[] = []
    let size = 0
    while (size < blockBytes) {
      const part = await this.#next(blockBytes - size)
      if (part === undefined) break
      parts.push(part)
      size += part.length
    }
    if (size === 0) return undefined
    if (size < blockBytes) throw new ArchiveError('the archive ends early')
    return Buffer.concat(parts)
  }

  async *take(count: number): AsyncGenerator<Uint8Array, void> {
    for (let left = count; left > 0; ) {
      const part = await this.#next(left)
      if (part === undefined) throw new ArchiveError('the archive ends early')
      left -= part.length
      yield part
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }

  async #next(countMax: number): Promise<Uint8Array | undefined> {
    while (this.#rest.length === 0) {
      const next = await this.#source.next()
      if (next.done === true) return undefined
      this.#rest = next.value
    }
    const part = this.#rest.subarray(0, countMax)
    this.#rest = this.#rest.subarray(part.length)
    return part
  }
}
