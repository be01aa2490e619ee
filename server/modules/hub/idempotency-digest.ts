import { createHash } from 'node:crypto'
import { canonicalize, isJsonObject, type JsonValue } from '../../../provenance/index.ts'
import { createYieldBudget } from '../../http/yield-budget.ts'

/** Enough for the hash to take longer than the call. */
const pieceLengthMin = 16 * 1024

/** Returns the SHA-256 of the path, a line feed and the canonical body. A large body is hashed in turns with other work. */
export async function requestDigest(path: string, body: JsonValue): Promise<Buffer> {
  const digest = createHash('sha256')
  const turn = createYieldBudget()
  let piece = `${path}\n`
  for (const text of canonicalPieces(body)) {
    piece += text
    if (piece.length < pieceLengthMin) continue
    digest.update(piece)
    piece = ''
    await turn.endIfLong()
  }
  return digest.update(piece).digest()
}

/** The canonical text of a value (RFC 8785), with the items of an array in an object, such as a batch's events, each alone. */
export function* canonicalPieces(value: JsonValue): Generator<string> {
  if (!isJsonObject(value)) {
    yield canonicalize(value)
    return
  }
  let before = '{'
  // The default sort compares UTF-16 code units, as RFC 8785, section 3.2.3 asks.
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
