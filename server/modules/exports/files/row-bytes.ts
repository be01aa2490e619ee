/** What a chunk has before it is passed on: enough that passing on costs nothing beside it. */
const chunkBytes = 512 * 1024

/** UTF-8 takes three bytes for each UTF-16 unit at most. */
const bytesPerUnitMax = 3

/** Gathers text as UTF-8 in large chunks. A chunk that was taken is not touched again. */
export class RowBytes {
  readonly #full: Buffer[] = []
  #chunk = Buffer.allocUnsafeSlow(chunkBytes)
  #at = 0
  #fullBytes = 0

  /** There is enough to be taken. */
  get isFull(): boolean {
    return this.#fullBytes > 0
  }

  text(text: string): void {
    this.#room(text.length * bytesPerUnitMax)
    this.#at += this.#chunk.write(text, this.#at)
  }

  /** Text of one byte for each character. */
  ascii(text: string): void {
    this.#room(text.length)
    this.#at += this.#chunk.write(text, this.#at, 'latin1')
  }

  /** Takes back the last bytes that {@link text} has just written. */
  back(bytes: number): void {
    this.#at -= bytes
  }

  /** Everything so far. */
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
