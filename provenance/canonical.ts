import { ProvenanceError } from './errors.ts'
import type { JsonValue } from './json.ts'

/** Maximum nesting of arrays and objects that is canonicalized, so that every verifier's parser can follow. */
export const canonicalDepthMax = 128

/**
 * Returns the canonical text of a JSON value, RFC 8785 (JSON Canonicalization Scheme).
 *
 * Throws ProvenanceError `not-json` for a value that JSON cannot represent exactly (lone surrogates, NaN, infinities,
 * undefined, bigint, instances of classes) and `too-deep` beyond {@link canonicalDepthMax}.
 */
export function canonicalize(value: JsonValue): string {
  return isInOrder(value, 0) ? JSON.stringify(value) : serialize(value, 0)
}

/**
 * Returns true if the engine's own serializer writes the canonical text, because all members are in order and all
 * values are plain. This takes half the time. Returns false if in doubt.
 */
function isInOrder(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed()
    case 'number':
      return Number.isFinite(value)
    case 'boolean':
      return true
    case 'object':
      if (value === null) return true
      if (depth === canonicalDepthMax) return false
      return Array.isArray(value) ? areInOrder(value, depth + 1) : areMembersInOrder(value, depth + 1)
    default:
      return false
  }
}

function areInOrder(items: readonly unknown[], depth: number): boolean {
  for (let i = 0; i < items.length; i++) if (!isInOrder(items[i], depth)) return false
  return true
}

function areMembersInOrder(object: object, depth: number): boolean {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) return false
  const members = object as Record<string, unknown>
  let before: string | undefined
  for (const name in members) {
    // The operator compares UTF-16 code units, as RFC 8785 §3.2.3 requires.
    if ((before !== undefined && name <= before) || !name.isWellFormed()) return false
    if (!isInOrder(members[name], depth)) return false
    before = name
  }
  return true
}

function serialize(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'number':
      // RFC 8785 §3.2.2.3 is ECMAScript's own Number::toString; it also prints -0 as 0.
      if (!Number.isFinite(value)) throw new ProvenanceError('not-json', `${value} is not a JSON number`)
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (depth === canonicalDepthMax) {
        throw new ProvenanceError('too-deep', `nested deeper than ${canonicalDepthMax} levels`)
      }
      return Array.isArray(value) ? serializeArray(value, depth + 1) : serializeObject(value, depth + 1)
    default:
      throw new ProvenanceError('not-json', `a ${typeof value} is not a JSON value`)
  }
}

function serializeArray(items: readonly unknown[], depth: number): string {
  let text = '['
  for (let i = 0; i < items.length; i++) text += (i === 0 ? '' : ',') + serialize(items[i], depth)
  return `${text}]`
}

function serializeObject(object: object, depth: number): string {
  // A Date or a Map would silently become {}. Object.prototype of another realm is plain too, so check its parent.
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new ProvenanceError('not-json', 'an instance of a class is not a JSON object')
  }
  const members = object as Record<string, unknown>
  let text = '{'
  // The default sort compares UTF-16 code units, as RFC 8785 §3.2.3 requires.
  for (const name of Object.keys(members).sort()) {
    text += (text === '{' ? '' : ',') + label(name) + serialize(members[name], depth)
  }
  return `${text}}`
}

// Caches quoted member names: records share them, and quoting them each time takes a quarter of the time. Bounded,
// because names come from outside.
const labels = new Map<string, string>()
const labelCountMax = 1024
const labelLengthMax = 64

function label(name: string): string {
  const known = labels.get(name)
  if (known !== undefined) return known
  const made = `${quote(name)}:`
  if (labels.size < labelCountMax && name.length <= labelLengthMax) labels.set(name, made)
  return made
}

/** RFC 8785 §3.2.2.2 is what JSON.stringify does, except that it would escape a lone surrogate instead of failing. */
function quote(text: string): string {
  if (!text.isWellFormed()) throw new ProvenanceError('not-json', 'a string has a lone surrogate')
  return JSON.stringify(text)
}
