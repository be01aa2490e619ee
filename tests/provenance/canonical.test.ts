import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalDepthMax, canonicalize, type JsonValue } from '../../provenance/index.ts'

/** Written from the RFC in another way: code units compared one by one, strings escaped by table. */
function naive(value: JsonValue): string {
  if (value === null || typeof value === 'boolean') return `${value}`
  if (typeof value === 'number') return Object.is(value, -0) ? '0' : `${value}`
  if (typeof value === 'string') return naiveString(value)
  if (Array.isArray(value)) return `[${value.map(naive).join()}]`
  const members = Object.entries(value).sort(([a], [b]) => compareCodeUnits(a, b))
  return `{${members.map(([name, member]) => `${naiveString(name)}:${naive(member)}`).join()}}`
}

function naiveString(text: string): string {
  const short: Record<string, string> = { '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r', '"': '"', '\\': '\\' }
  const escaped = [...text].map((character) => {
    if (short[character] !== undefined) return `\\${short[character]}`
    return character < ' ' ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : character
  })
  return `"${escaped.join('')}"`
}

function compareCodeUnits(a: string, b: string): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return a.charCodeAt(i) - b.charCodeAt(i)
  }
  return a.length - b.length
}

const json = fc.jsonValue({ noUnicodeString: false, maxDepth: 5 }) as fc.Arbitrary<JsonValue>
const wideJson = fc.oneof(
  json,
  fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), json)),
)

describe('canonicalize', () => {
  test('agrees with an independent implementation', () => {
    fc.assert(
      fc.property(wideJson, (value) => {
        expect(canonicalize(value)).toBe(naive(value))
      }),
      { numRuns: 2000 },
    )
  })

  test('is JSON of the same value, and stays as it is', () => {
    fc.assert(
      fc.property(wideJson, (value) => {
        const text = canonicalize(value)
        const parsed = JSON.parse(text) as JsonValue
        expect(parsed).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalize(parsed)).toBe(text)
      }),
    )
  })

  test('does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), (object) => {
        expect(canonicalize(Object.fromEntries(Object.entries(object).reverse()))).toBe(canonicalize(object))
      }),
    )
  })

  test('keeps a member named __proto__', () => {
    expect(canonicalize(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}')
  })

  test('takes more member names than it remembers', () => {
    const names = Array.from({ length: 3000 }, (_, i) => `name ${i}`)
    const object = Object.fromEntries(names.map((name) => [name, 0]))
    expect(canonicalize(object)).toBe(`{${names.sort().map((name) => `"${name}":0`)}}`)
  })

  test.each([
    ['lone high surrogate', '\ud83d'],
    ['lone low surrogate', ['a\ude00']],
    ['surrogates swapped', { a: '\ude00\ud83d' }],
    ['lone surrogate in a name', { '\ud800': 1 }],
    ['NaN', Number.NaN],
    ['Infinity', [Number.POSITIVE_INFINITY]],
    ['-Infinity', { a: Number.NEGATIVE_INFINITY }],
    ['undefined', undefined],
    ['undefined member', { a: undefined }],
    ['sparse array', new Array(2)],
    ['bigint', 1n],
    ['function', () => 1],
    ['symbol', Symbol('a')],
    ['Date', new Date(0)],
    ['Map', new Map()],
    ['boxed string', Object('a')],
    ['bytes', new Uint8Array(2)],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalize(value as JsonValue)).toThrow(expect.objectContaining({ code: 'not-json' }))
  })

  test('nests as deep as it says, and no deeper', () => {
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as JsonValue
    expect(canonicalize(nested(canonicalDepthMax))).toHaveLength(2 * canonicalDepthMax)
    expect(() => canonicalize(nested(canonicalDepthMax + 1))).toThrow(expect.objectContaining({ code: 'too-deep' }))
    const loop: JsonValue[] = []
    loop.push(loop)
    expect(() => canonicalize(loop)).toThrow(expect.objectContaining({ code: 'too-deep' }))
  })
})
