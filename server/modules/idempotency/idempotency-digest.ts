import { createHash } from 'node:crypto'
import { canonicalize, isJsonObject, type JsonValue } from '../../../provenance/index.ts'
import { createEventLoopYielder } from '../../http/event-loop-yielder.ts'

/** Minimum length of a hashed piece in UTF-16 code units. Hashing it takes longer than the call overhead. */
const pieceLengthMin = 16 * 1024

/**
 * Returns the SHA-256 of the path, a line feed and the canonical body. Yields to the event loop while hashing a large
 * body.
 */
export async function requestDigest(path: string, body: JsonValue): Promise<Buffer> {
  const digest = createHash('sha256')
  const yieldIfLong = createEventLoopYielder()
  let piece = `${path}\n`
  for (const text of canonicalPieces(body)) {
    piece += text
    if (piece.length < pieceLengthMin) continue
    digest.update(piece)
    piece = ''
    await yieldIfLong()
  }
  return digest.update(piece).digest()
}

/**
 * Yields the canonical text of a value (RFC 8785) in pieces. Each item of an array in an object, such as an event of a
 * batch, is a piece of its own.
 */
export function* canonicalPieces(value: JsonValue): Generator<string> {
  if (!isJsonObject(value)) {
    yield canonicalize(value)
    return
  }
  let before = '{'
  // The default sort compares UTF-16 code units, as RFC 8785, section 3.2.3 requires.
  for (const name of Object.keys(value).sort()) {
    const member = value[name] as JsonValue
    yield `${before}${canonicalize(name)}:`
    before = ','
    if (!Array.isArray(member)) {
      yield canonicalize(member)
      continue
    }
    yield '['
    for (const [at, item] of (member as readonly JsonValue[]).entries())
      yield (at === 0 ? '' : ',') + canonicalize(item)
    yield ']'
  }
  yield before === '{' ? '{}' : '}'
}
