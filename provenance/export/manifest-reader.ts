import { joinBytes, utf8 } from '../bytes.ts'
import { duplicateMember } from '../duplicate-members.ts'
import { ProvenanceError } from '../errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'

/** The bytes of a manifest. A manifest can be larger than a string may be. Each call starts at the beginning. */
export type ManifestSource = () => Iterable<Uint8Array>

type Part =
  | { readonly kind: 'member'; readonly name: string; readonly value: JsonValue }
  | { readonly kind: 'seal'; readonly value: JsonValue }

/**
 * Returns all members but `seals`. Throws `manifest-malformed` unless it is one JSON object without duplicate members.
 */
export function readManifestHead(source: ManifestSource, onSeal: (seal: JsonValue) => void): JsonObject {
  const members: [string, JsonValue][] = []
  for (const part of partsOf(source())) {
    if (part.kind === 'seal') onSeal(part.value)
    else members.push([part.name, part.value])
  }
  return Object.fromEntries(members)
}

/** Yields the elements of `seals`. Throws the errors of {@link readManifestHead}. */
export function* readManifestSeals(source: ManifestSource): Generator<JsonValue, void> {
  for (const part of partsOf(source())) if (part.kind === 'seal') yield part.value
}

function* partsOf(chunks: Iterable<Uint8Array>): Generator<Part, void> {
  const reader = new ByteReader(chunks)
  const names = new Set<string>()
  reader.expect('{')
  while (reader.next() !== char('}')) {
    const name = reader.value()
    if (typeof name !== 'string') throw malformed('the name of a member is not a string')
    if (names.has(name)) throw malformed(`the member ${JSON.stringify(name)} occurs twice`)
    names.add(name)
    reader.expect(':')
    if (name === 'seals' && reader.next() === char('[')) {
      reader.expect('[')
      if (reader.next() !== char(']')) {
        do yield { kind: 'seal', value: reader.value() }
        while (reader.take(','))
      }
      reader.expect(']')
      yield { kind: 'member', name, value: true }
    } else {
      yield { kind: 'member', name, value: reader.value() }
    }
    if (!reader.take(',')) break
    if (reader.next() === char('}')) throw malformed('a comma stands before its end')
  }
  reader.expect('}')
  if (reader.next() !== -1) throw malformed('something stands behind the object')
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const spaces = new Set([0x20, 0x0a, 0x0d, 0x09])

/** Cuts a stream of JSON into values; JSON.parse handles their content. */
class ByteReader {
  readonly #chunks: Iterator<Uint8Array>
  #chunk: Uint8Array = new Uint8Array(0)
  #at = 0

  constructor(chunks: Iterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.iterator]()
  }

  /** Returns the next byte that is not a space without consuming it; -1 at the end. */
  next(): number {
    for (;;) {
      const byte = this.#peek()
      if (!spaces.has(byte)) return byte
      this.#at++
    }
  }

  /** Consumes the next byte that is not a space if it is this one. */
  take(expected: string): boolean {
    if (this.next() !== char(expected)) return false
    this.#at++
    return true
  }

  /** Consumes this byte like {@link take}; throws for any other. */
  expect(expected: string): void {
    if (this.take(expected)) return
    throw malformed(this.next() === -1 ? 'it ends before its time' : `expected ${expected}`)
  }

  /** Consumes the next value. */
  value(): JsonValue {
    this.next()
    const parts: Uint8Array[] = []
    let from = this.#at
    let depth = 0
    let isInText = false
    for (;;) {
      while (this.#at >= this.#chunk.length) {
        parts.push(this.#chunk.subarray(from))
        if (!this.#pull()) throw malformed('it ends before its time')
        from = 0
      }
      const byte = this.#chunk[this.#at]!
      if (isInText) {
        if (byte === 0x22) isInText = false
        else if (byte === 0x5c) this.#at++
      } else if (byte === 0x22) isInText = true
      else if (byte === 0x7b || byte === 0x5b) depth++
      else if (depth > 0 && (byte === 0x7d || byte === 0x5d)) depth--
      else if (depth === 0 && isDelimiter(byte)) break
      this.#at++
    }
    parts.push(this.#chunk.subarray(from, this.#at))
    return parse(parts.length === 1 ? parts[0]! : joinBytes(parts))
  }

  #peek(): number {
    while (this.#at >= this.#chunk.length) if (!this.#pull()) return -1
    return this.#chunk[this.#at]!
  }

  #pull(): boolean {
    const { value, done } = this.#chunks.next()
    if (done) return false
    this.#at -= this.#chunk.length
    this.#chunk = value
    return true
  }
}

function isDelimiter(byte: number): boolean {
  return byte === 0x2c || byte === 0x3a || byte === 0x7d || byte === 0x5d || spaces.has(byte)
}

function parse(bytes: Uint8Array): JsonValue {
  let value: JsonValue
  let text: string
  try {
    text = decoder.decode(bytes)
    value = JSON.parse(text) as JsonValue
  } catch {
    throw malformed('it is not JSON')
  }
  const twice = duplicateMember(text)
  if (twice !== undefined) throw malformed(`the member ${JSON.stringify(twice)} occurs twice`)
  return value
}

function char(text: string): number {
  return utf8(text)[0]!
}

function malformed(detail: string): ProvenanceError {
  return new ProvenanceError('manifest-malformed', `the manifest cannot be read: ${detail}`)
}
