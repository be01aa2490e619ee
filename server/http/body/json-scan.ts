import type { BodyBounds } from '../../../contract/limits.ts'

/** The result of one pass over the bytes of a JSON text, which builds nothing. */
export interface JsonShape {
  /** Members of all objects: the colons outside strings. */
  members: number
  values: number
  /** The deepest nesting of arrays and objects. */
  depth: number
  /** Whether the text is nested deeper than allowed. The scan ended there. */
  tooDeep: boolean
  /** The exceeded bound, with the index of the event in a batch. The scan ended there. */
  excess: { of: keyof Omit<ScanBounds, 'depth'>; event: number } | undefined
  /** Whether the text contains NUL, half a surrogate pair, or a number that a double cannot hold. */
  forbidden: boolean
}

/** Bounds of a text. Absent bounds do not apply. */
export interface ScanBounds extends Partial<Omit<BodyBounds, 'bytes'>> {
  depth: number
  /** Maximum bytes of one number. */
  numberBytes?: number
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const letterU = 0x75
/** The depth inside the list of a batch: the object around it has depth 1. */
const listDepth = 2
/** Bytes scanned between two yields, in about a millisecond. */
const bytesPerTurn = 512 * 1024

/**
 * Scans JSON text in UTF-8, and yields periodically. For text that is not JSON the counts mean nothing, but the scan
 * ends.
 * Every body is scanned before it is parsed, so that nothing beyond its bounds is ever built. Byte by byte over a
 * Buffer was the fastest of the tried ways.
 */
export function* scanJson(bytes: Uint8Array, bounds: ScanBounds): Generator<void, JsonShape> {
  const shape: JsonShape = {
    members: 0,
    values: 0,
    depth: 0,
    tooDeep: false,
    excess: undefined,
    forbidden: false,
  }
  const membersAt = new Uint32Array(bounds.depth + 1)
  const state: ScanState = { at: 0, depth: 0, event: 0, valuesBeforeEvent: 0, textBytes: 0, membersAt }
  while (state.at < bytes.length && !shape.tooDeep && shape.excess === undefined) {
    scanPart(bytes, Math.min(bytes.length, state.at + bytesPerTurn), bounds, shape, state)
    yield
  }
  return shape
}

interface ScanState {
  at: number
  depth: number
  /** The index of the item at {@link listDepth}, which in a batch is an event. */
  event: number
  valuesBeforeEvent: number
  /** Bytes between the quotes of the last string, which is a name if a colon follows. */
  textBytes: number
  /** Members so far of the open object at each depth. */
  membersAt: Uint32Array
}

/** Continues to the first token that begins at or after `end`. */
function scanPart(bytes: Uint8Array, end: number, bounds: ScanBounds, shape: JsonShape, state: ScanState): void {
  const none = Number.POSITIVE_INFINITY
  const {
    values: valuesMax = none,
    eventValues: eventValuesMax = none,
    objectMembers: objectMembersMax = none,
    nameBytes: nameBytesMax = none,
    textBytes: textBytesMax = none,
    numberBytes: numberBytesMax = none,
  } = bounds
  const { membersAt } = state
  let { at, depth, event, valuesBeforeEvent } = state
  let { values, members } = shape
  let { textBytes } = state
  for (; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === quote) {
      // The string may be a name: the token after it checks the bounds.
      const from = at + 1
      at = endOfString(bytes, from, textBytesMax, shape)
      values++
      textBytes = at - from
      if (textBytes <= textBytesMax) continue
      shape.excess = { of: 'textBytes', event }
      break
    }
    if (byte === colon) {
      members++
      values--
      if (textBytes > nameBytesMax) {
        shape.excess = { of: 'nameBytes', event }
        break
      }
      // Below 0 the text is not JSON, and nothing after it is parsed.
      const membersOfObject = depth < 0 ? 0 : (membersAt[depth] as number) + 1
      if (membersOfObject <= objectMembersMax) {
        membersAt[depth] = membersOfObject
        continue
      }
      shape.excess = { of: 'objectMembers', event }
      break
    }
    const opens = byte === 0x7b || byte === 0x5b
    const closes = byte === 0x7d || byte === 0x5d
    if (byte >= 0x30 && byte <= 0x39) {
      const from = at
      at = endOfNumber(bytes, from, numberBytesMax, shape)
      values++
      if (at - from >= numberBytesMax) {
        shape.excess = { of: 'numberBytes', event }
        break
      }
    } else if (opens || byte === 0x74 || byte === 0x66 || byte === 0x6e) {
      // `true`, `false` and `null` each contain exactly one of these letters.
      values++
    } else if (byte !== comma && !closes) {
      continue
    }
    if (depth >= listDepth && values - valuesBeforeEvent > eventValuesMax) {
      shape.excess = { of: 'eventValues', event }
      break
    }
    if (values > valuesMax) {
      shape.excess = { of: 'values', event }
      break
    }
    if (opens) {
      depth++
      if (depth > shape.depth) shape.depth = depth
      if (depth > bounds.depth) {
        shape.tooDeep = true
        break
      }
      membersAt[depth] = 0
      if (depth === listDepth) event = 0
    } else if (closes) {
      depth--
    }
    if (depth === listDepth && (opens || byte === comma)) {
      valuesBeforeEvent = values
      if (byte === comma) event++
    }
  }
  shape.values = values
  shape.members = members
  state.at = at
  state.depth = depth
  state.event = event
  state.valuesBeforeEvent = valuesBeforeEvent
  state.textBytes = textBytes
}

/** Returns the index of the closing quote, or an index beyond it if the string is longer or does not end. */
function endOfString(bytes: Uint8Array, from: number, bytesMax: number, shape: JsonShape): number {
  const end = Math.min(bytes.length, from + bytesMax + 1)
  let at = from
  while (at < end) {
    const byte = bytes[at]
    if (byte === quote) return at
    if (byte === backslash) {
      if (bytes[at + 1] === letterU) at = endOfUnicodeEscape(bytes, at, shape)
      else at += 2
    } else {
      at++
    }
  }
  return at
}
/** Skips `\uXXXX`, or a pair that makes one character; NUL and half a pair are forbidden. */
function endOfUnicodeEscape(bytes: Uint8Array, at: number, shape: JsonShape): number {
  const unit = hexUnit(bytes, at + 2)
  if (unit === 0) shape.forbidden = true
  if (unit < 0xd800 || unit > 0xdfff) return at + 6
  const isPair = bytes[at + 6] === backslash && bytes[at + 7] === letterU
  const second = isPair ? hexUnit(bytes, at + 8) : 0
  if (unit <= 0xdbff && second >= 0xdc00 && second <= 0xdfff) return at + 12
  shape.forbidden = true
  return at + 6
}

function hexUnit(bytes: Uint8Array, from: number): number {
  let unit = 0
  for (let at = from; at < from + 4; at++) unit = unit * 16 + hexDigit(bytes[at] ?? 0)
  return unit
}

function hexDigit(byte: number): number {
  if (byte <= 0x39) return byte - 0x30
  return (byte | 0x20) - 0x57
}

/**
 * Returns the index of the last byte of a number, or an index beyond the bound if the number is longer. A double holds
 * any 200 digits and any exponent of two digits.
 */
function endOfNumber(bytes: Uint8Array, from: number, bytesMax: number, shape: JsonShape): number {
  const end = Math.min(bytes.length, from + bytesMax + 1)
  let at = from
  // Exact up to 2^53, and never below it afterwards.
  let integer = 0
  while (at < end && isDigit(bytes[at])) integer = integer * 10 + ((bytes[at++] as number) - 0x30)
  let isInteger = true
  if (bytes[at] === 0x2e) {
    isInteger = false
    at++
    while (at < end && isDigit(bytes[at])) at++
  }
  let exponentDigits = 0
  if (((bytes[at] ?? 0) | 0x20) === 0x65) {
    isInteger = false
    at++
    if (bytes[at] === 0x2b || bytes[at] === 0x2d) at++
    const exponentFrom = at
    while (at < end && isDigit(bytes[at])) at++
    exponentDigits = at - exponentFrom
  }
  if (at - from > bytesMax) return at - 1
  if (
    isInteger
      ? !Number.isSafeInteger(integer)
      : (exponentDigits > 2 || at - from > 200) && !isFiniteNumber(bytes, from, at)
  )
    shape.forbidden = true
  return at - 1
}

function isFiniteNumber(bytes: Uint8Array, from: number, to: number): boolean {
  return Number.isFinite(Number(Buffer.from(bytes.subarray(from, to)).toString('latin1')))
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}
