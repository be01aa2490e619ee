const dash = '-'.charCodeAt(0)
const idBytes = 16
const idsPerChunk = 65_536
const member = Buffer.from('"record_id":"')

/** Holds the ids of records that were answered with 201, 16 bytes each, so that tens of millions fit. */
export class AcknowledgedIds {
  readonly #chunks: Buffer[] = []
  #used = idsPerChunk
  count = 0

  /** Takes every `record_id` of a response, in order. Returns their number. */
  addFrom(answer: Buffer): number {
    let found = 0
    for (let at = answer.indexOf(member); at >= 0; at = answer.indexOf(member, at)) {
      at += member.length
      this.#add(answer, at)
      found++
    }
    return found
  }

  /** Returns ids as text, from index `from` to `to` (excluded). */
  slice(from: number, to: number): string[] {
    return Array.from({ length: to - from }, (_, at) => this.at(from + at))
  }

  at(index: number): string {
    const chunk = this.#chunks[Math.floor(index / idsPerChunk)]!
    const start = (index % idsPerChunk) * idBytes
    const hex = chunk.toString('hex', start, start + idBytes)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }

  /** Yields the ids as binary buffers of at most 65,536 ids. */
  *buffers(): Generator<Buffer> {
    for (const [at, chunk] of this.#chunks.entries()) {
      yield at === this.#chunks.length - 1 ? chunk.subarray(0, this.#used * idBytes) : chunk
    }
  }

  #add(text: Buffer, from: number): void {
    if (this.#used === idsPerChunk) {
      this.#chunks.push(Buffer.allocUnsafe(idsPerChunk * idBytes))
      this.#used = 0
    }
    const chunk = this.#chunks.at(-1)!
    let to = this.#used++ * idBytes
    const end = to + idBytes
    for (let at = from; to < end; at += 2) {
      if (text[at] === dash) at++
      chunk[to++] = (hexDigit(text[at]!) << 4) | hexDigit(text[at + 1]!)
    }
    this.count++
  }
}

/** @param code the code of a character 0-9 or a-f */
function hexDigit(code: number): number {
  return code < 58 ? code - 48 : code - 87
}
