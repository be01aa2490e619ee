import type { PointedError } from '../../../contract/domain-error.ts'

/** Rules beyond the syntax of JSON, and the texts of their violations. */

/** Bounds all names of a path together; errors do not repeat longer ones. */
const namesLengthMax = 1024

/** Returns a path as a JSON pointer (RFC 6901). */
export function jsonPointer(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/**
 * Returns an error at a path. If its names are long, the error is at the place above them: a hundred pointers with a
 * name of megabytes take more time and memory than the body.
 */
export function errorAt(path: readonly (string | number)[], detail: string, prefix = ''): PointedError {
  let length = 0
  const long = path.findIndex((step) => {
    length += String(step).length
    return length > namesLengthMax
  })
  if (long < 0) return { pointer: `${prefix}${jsonPointer(path)}`, detail }
  const above = `${prefix}${jsonPointer(path.slice(0, long))}`
  return { pointer: above, detail: `has a member with a long name, which ${detail}` }
}

export function textViolation(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the character NUL (U+0000)'
  if (!text.isWellFormed()) return 'must not contain an unpaired surrogate'
  return undefined
}

/**
 * Returns the violation of a number, or undefined.
 *
 * @param literal the unchanged text of the number
 */
export function numberViolation(literal: string): string | undefined {
  if (!Number.isFinite(Number(literal))) return 'must be a number in the range of a double'
  if (/^-?\d+$/.test(literal) && !Number.isSafeInteger(Number(literal))) {
    return 'must be an integer between -9007199254740991 and 9007199254740991 (send larger ones as strings)'
  }
  return undefined
}

/** Characters read between two yields, in about a millisecond. */
const lengthPerTurn = 512 * 1024

/** Describes a place in a text, by line and column from 1, and yields periodically. */
export function* placeIn(text: string, offset: number): Generator<void, string> {
  let line = 1
  let lineFrom = 0
  for (let at = 0; at < offset; at++) {
    if (at % lengthPerTurn === 0) yield
    if (text.charCodeAt(at) !== 0x0a) continue
    line++
    lineFrom = at + 1
  }
  return `line ${line}, column ${offset - lineFrom + 1}`
}
