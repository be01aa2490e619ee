/** What one pass over the bytes of a JSON text finds out, without building anything. */
export interface JsonShape {
  /** Members of all objects: the colons outside strings. */
  members: number
  /** Deepest nesting of arrays and objects. */
  depth: number
  /** Where the nesting first goes beyond the allowed depth, or -1. */
  tooDeepAt: number
  /** The text holds NUL, half a surrogate pair, or a number outside what a double keeps. */
  forbidden: boolean
}

const quote = 0x22
const backslash = 0x5c
const letterU = 0x75

/**
 * Scans JSON text in UTF-8. On text that is not JSON the answer means nothing, but the scan ends.
 *
 * This runs on every body before `JSON.parse`, so that nothing deeper than `depthMax` is ever parsed. Byte by byte
 * over a Buffer is the fastest way tried.
 */
export function scanJson(bytes: Uint8Array, depthMax: number): JsonShape {
  const shape: JsonShape = { members: 0, depth: 0, tooDeepAt: -1, forbidden: false }
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === quote) {
      at = endOfString(bytes, at + 1, shape)
    } else if (byte === 0x3a) {
      shape.members++
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++
      if (depth > shape.depth) shape.depth = depth
      if (depth > depthMax && shape.tooDeepAt < 0) shape.tooDeepAt = at
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--
    } else if (byte >= 0x30 && byte <= 0x39) {
      at = endOfNumber(bytes, at, shape)
    }
  }
  return shape
}

/** Index of the closing quote; the length of the text when there is none. */
function endOfString(bytes: Uint8Array, from: number, shape: JsonShape): number {
  let at = from
  while (at < bytes.length) {
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

/** Steps over `\uXXXX`, or over a pair that makes one character; NUL and half a pair are forbidden. */
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

/** Index of the last byte of a number. A double holds 200 digits and exponents of two digits whatever they are. */
function endOfNumber(bytes: Uint8Array, from: number, shape: JsonShape): number {
  let at = from
  // Exact up to 2^53, and never below it again.
  let integer = 0
  while (isDigit(bytes[at])) integer = integer * 10 + ((bytes[at++] as number) - 0x30)
  let isInteger = true
  if (bytes[at] === 0x2e) {
    isInteger = false
    at++
    while (isDigit(bytes[at])) at++
  }
  let exponentDigits = 0
  if (((bytes[at] ?? 0) | 0x20) === 0x65) {
    isInteger = false
    at++
    if (bytes[at] === 0x2b || bytes[at] === 0x2d) at++
    const exponentFrom = at
    while (isDigit(bytes[at])) at++
    exponentDigits = at - exponentFrom
  }
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
