const encoder = new TextEncoder()
const decoder = new TextDecoder()
const prefix = encoder.encode('{"events":[')
const separator = 0x2c
/** The bytes `]}`. */
const end = [0x5d, 0x7d]

/** Maximum length of an event in UTF-8: with its separator it has 64 KiB. */
const lengthMax = 64 * 1024 - 1
const scratch = new Uint8Array(lengthMax)

/** Returns the length of an event's JSON in UTF-8, or undefined if it is too long. Allocates next to nothing. */
export function utf8LengthOf(text: string): number | undefined {
  const { read, written } = encoder.encodeInto(text, scratch)
  return read < text.length ? undefined : written
}

/**
 * Gathers events as the JSON of a request, in UTF-8. Texts would be in the young heap until the request ends, which
 * doubles the memory of the process.
 */
export class EventBody {
  #bytes: Uint8Array
  #length = prefix.length

  /** @param capacity the expected length in bytes; a longer body doubles it */
  constructor(capacity: number) {
    this.#bytes = new Uint8Array(Math.max(capacity, 1024))
    this.#bytes.set(prefix)
  }

  /** The length of the finished body, in bytes. */
  get length(): number {
    return this.#length + 1
  }

  /**
   * Adds an event, which is JSON.
   *
   * @param byteLength its length in UTF-8
   */
  add(line: string, byteLength: number): void {
    // The separator, and one byte more for the end.
    const needed = this.#length + byteLength + 2
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    encoder.encodeInto(line, this.#bytes.subarray(this.#length))
    this.#length += byteLength
    this.#bytes[this.#length++] = separator
  }

  /** Returns the body. Nothing can be added afterwards. */
  finish(): Uint8Array {
    // The end overwrites the last separator.
    this.#bytes.set(end, this.#length - 1)
    return this.#bytes.subarray(0, this.length)
  }
}

/** Returns the body of a request with these events, which are JSON; undefined without events. */
export function bodyOf(lines: readonly string[]): Uint8Array | undefined {
  return lines.length === 0 ? undefined : encoder.encode(`{"events":[${lines.join(',')}]}`)
}

/** Returns the events of a body. */
export function eventsOf<Event>(body: Uint8Array): Event[] {
  return (JSON.parse(decoder.decode(body)) as { events: Event[] }).events
}
