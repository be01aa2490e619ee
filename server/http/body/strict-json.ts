import { isUtf8 } from 'node:buffer'
import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { type BodyBounds, jsonDepthMax, numberBytesMax } from '../../../contract/limits.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import { runToEnd, runYielding } from '../event-loop-yielder.ts'
import { type JsonShape, scanJson } from './json-scan.ts'
import { placeIn } from './json-violations.ts'
import { JsonSyntaxFault, JsonTooDeep, type WalkedJson, walkJson } from './json-walk.ts'

type Bounds = Partial<Omit<BodyBounds, 'bytes'>> & { depth?: number }

/** Larger bodies are parsed in turns with other work. Smaller ones take a few milliseconds at most. */
const atOnceBytesMax = 32 * 1024
/** Maximum number of values to parse at once: the engine's parser takes up to half a microsecond for each. */
const parsedAtOnceMax = 50_000
/** Maximum bytes to parse at once: the engine's parser takes up to two milliseconds for each MiB with escapes. */
const parsedAtOnceBytesMax = 4 * 1024 * 1024

/**
 * Parses JSON (RFC 8259) that has only one reading and can be stored unchanged: UTF-8 without a byte order mark, no
 * repeated member, no `__proto__`, no NUL, no half surrogate pair, no integer beyond 2^53-1, no number beyond a double
 * or longer than 8 KiB, at most `depth` levels. The bounds are checked before anything is parsed.
 *
 * @throws DomainError `payload-too-large` beyond the bounds; `malformed-json` for syntax, encoding and repeated
 * members; `validation-failed`, with pointers, for the rest
 */
export function parseStrictJson(bytes: Buffer, bounds: Bounds = {}): JsonValue {
  return runToEnd(parsing(bytes, bounds))
}

/** Parses like {@link parseStrictJson}, but a large text in turns with other work. */
export async function parseStrictJsonInTurns(bytes: Buffer, bounds: Bounds = {}): Promise<JsonValue> {
  const work = parsing(bytes, bounds)
  return bytes.length <= atOnceBytesMax ? runToEnd(work) : runYielding(work)
}

function* parsing(bytes: Buffer, bounds: Bounds): Generator<void, JsonValue> {
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw malformed('The body starts with a byte order mark. Send UTF-8 without it.')
  }
  const { depth = jsonDepthMax } = bounds
  const shape = yield* scanJson(bytes, { ...bounds, depth, numberBytes: numberBytesMax })
  if (shape.excess) throw excessOf(bounds, shape.excess)
  const text = bytes.toString('utf8')
  yield
  const isLarge = shape.values > parsedAtOnceMax || bytes.length > parsedAtOnceBytesMax
  if (isLarge || shape.tooDeep || shape.forbidden) return soundValue(yield* walk(text, depth))
  let value: JsonValue
  try {
    value = JSON.parse(text) as JsonValue
  } catch {
    yield
    // The engine's message quotes the body; the walk names the place.
    return soundValue(yield* walk(text, depth))
  }
  yield
  const tally = countMembers(value)
  // A repeated member is counted in the text but not in the value.
  if (tally.members === shape.members && !tally.forbidden) return value
  return soundValue(yield* walk(text, depth))
}

function* walk(text: string, depthMax: number): Generator<void, WalkedJson> {
  try {
    return yield* walkJson(text, depthMax)
  } catch (error) {
    if (error instanceof JsonSyntaxFault) {
      const place = yield* placeIn(text, error.offset)
      throw malformed(`The body is not JSON: ${error.message} at ${place}.`)
    }
    if (!(error instanceof JsonTooDeep)) throw error
    const detail = `must not be nested deeper than ${depthMax} levels`
    throw validationFailed([{ pointer: error.pointer, detail }])
  }
}

function soundValue({ value, duplicates, breaches }: WalkedJson): JsonValue {
  if (duplicates.length > 0) {
    throw new DomainError(
      'malformed-json',
      `The body has repeated members: ${duplicates.map((error) => error.pointer).join(', ')}. Send each once.`,
      { errors: duplicates },
    )
  }
  if (breaches.length > 0) throw validationFailed(breaches)
  return value
}

interface Tally {
  members: number
  forbidden: boolean
}

function countMembers(value: JsonValue): Tally {
  const tally: Tally = { members: 0, forbidden: false }
  count(value, tally)
  return tally
}

/** Recursion is bounded: the scan has rejected deeper nesting. */
function count(value: JsonValue, tally: Tally): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) count(item, tally)
    return
  }
  const members = value as JsonObject
  for (const name in members) {
    tally.members++
    if (name === '__proto__') tally.forbidden = true
    const member = members[name] as JsonValue
    if (typeof member === 'object' && member !== null) count(member, tally)
  }
}

function excessOf(bounds: Bounds, { of, event }: NonNullable<JsonShape['excess']>): DomainError {
  const values = 'JSON values (texts, numbers, literals, arrays and objects)'
  const bound = {
    values: `${bounds.values} ${values}`,
    eventValues: `${bounds.eventValues} ${values}`,
    objectMembers: `${bounds.objectMembers} members in one object`,
    nameBytes: `${bounds.nameBytes} bytes in the name of a member`,
    textBytes: `${bounds.textBytes} bytes in one text`,
    numberBytes: `${numberBytesMax} bytes in one number`,
  }[of]
  const pointer = of === 'eventValues' ? `/events/${event}` : ''
  return new DomainError(
    'payload-too-large',
    `${pointer || 'The body'} has more than the ${bound} that this operation accepts. Send less at a time.`,
    { errors: [{ pointer, detail: `must have at most ${bound}` }] },
  )
}

function malformed(detail: string): DomainError {
  return new DomainError('malformed-json', detail, { errors: [{ pointer: '', detail }] })
}
