/** Size of a chunk: large enough that the cost of passing it on is negligible. */
const chunkBytes = 512 * 1024

/** Maximum UTF-8 bytes for each UTF-16 unit. */
const bytesPerUnitMax = 3

/** Gathers text as UTF-8 in large chunks. A chunk that was taken is not modified again. */
export class RowBytes {
  readonly #full: Buffer[] = []
  #chunk = Buffer.allocUnsafeSlow(chunkBytes)
  #at = 0
  #fullBytes = 0

  /** Returns whether a full chunk can be taken. */
  get isFull(): boolean {
    return this.#fullBytes > 0
  }

  text(text: string): void {
    this.#room(text.length * bytesPerUnitMax)
    this.#at += this.#chunk.write(text, this.#at)
  }

  /** Appends text of one-byte characters. */
  ascii(text: string): void {
    this.#room(text.length)
    this.#at += this.#chunk.write(text, this.#at, 'latin1')
  }

  /** Removes the last bytes that {@link text} has just written. */
  back(bytes: number): void {
    this.#at -= bytes
  }

  /** Returns everything so far. */
  take(): Buffer[] {
    this.#passOn(chunkBytes)
    this.#fullBytes = 0
    return this.#full.splice(0)
  }

  #room(bytes: number): void {
    if (this.#at + bytes > this.#chunk.length) this.#passOn(Math.max(chunkBytes, bytes))
  }

  #passOn(nextBytes: number): void {
    if (this.#at > 0) {
      this.#full.push(this.#chunk.subarray(0, this.#at))
      this.#fullBytes += this.#at
      this.#chunk = Buffer.allocUnsafeSlow(nextBytes)
      this.#at = 0
    } else if (this.#chunk.length < nextBytes) this.#chunk = Buffer.allocUnsafeSlow(nextBytes)
  }
}
