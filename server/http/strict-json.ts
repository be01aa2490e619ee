import { isUtf8 } from 'node:buffer'
import { DomainError, validationFailed } from '../../contract/domain-error.ts'
import { jsonDepthMax } from '../../contract/limits.ts'
import type { JsonObject, JsonValue } from '../../provenance/json.ts'
import { describeSyntaxError, findBreaches, pointerAt } from './json-breaches.ts'
import { scanJson } from './json-scan.ts'

/**
 * Parses JSON (RFC 8259) that can be understood in one way only, and kept as it is:
 * UTF-8 without a byte order mark, no repeated member, no `__proto__`, no NUL, no half surrogate pair, no integer
 * beyond 2^53-1, no number beyond a double, at most `depthMax` levels.
 *
 * @throws DomainError `malformed-json` for syntax, encoding and repeated members; `validation-failed`, with pointers,
 *   for the rest
 */
export function parseStrictJson(bytes: Buffer, depthMax = jsonDepthMax): JsonValue {
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw malformed('The body begins with a byte order mark. Send UTF-8 without it.')
  }
  const text = bytes.toString('utf8')
  const shape = scanJson(bytes, depthMax)
  if (shape.tooDeepAt >= 0) {
    const offset = bytes.subarray(0, shape.tooDeepAt).toString('utf8').length
    throw validationFailed([
      { pointer: pointerAt(text, offset), detail: `must not be nested deeper than ${depthMax} levels` },
    ])
  }
  const value = parse(text)
  const tally = countMembers(value)
  // A repeated member is counted in the text but not in the value.
  const isRepeated = tally.members !== shape.members
  if (shape.forbidden || tally.forbidden || isRepeated) throw breachesOf(text, isRepeated)
  return value
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    // The engine's message quotes the body; ours names the place.
    throw malformed(`The body is not JSON: ${describeSyntaxError(text)}.`)
  }
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

/** Recursion is bounded: the scan has refused what is nested too deep. */
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

/** What to answer for a text that is JSON and breaks a rule. */
function breachesOf(text: string, isRepeated: boolean): DomainError {
  const { duplicates, values } = findBreaches(text)
  if (duplicates.length > 0) {
    return new DomainError(
      'malformed-json',
      `The body has repeated members: ${duplicates.map((error) => error.pointer).join(', ')}. Send each once.`,
      { errors: duplicates },
    )
  }
  if (isRepeated) return malformed('The body has a repeated member, too far into it to say where. Send each once.')
  if (values.length > 0) return validationFailed(values)
  return validationFailed([
    { pointer: '', detail: `must not contain ${forbidden}; it does, too far into it to say where` },
  ])
}

const forbidden = 'NUL, half of a surrogate pair, the name __proto__, or a number beyond a double or a safe integer'

function malformed(detail: string): DomainError {
  return new DomainError('malformed-json', detail, { errors: [{ pointer: '', detail }] })
}
