import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import { jsonPointer } from '../../server/http/json-breaches.ts'
import { scanJson } from '../../server/http/json-scan.ts'
import { parseStrictJson } from '../../server/http/strict-json.ts'

function refusal(text: string | Buffer, depthMax = 64) {
  try {
    parseStrictJson(Buffer.from(text as string), depthMax)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { slug: error.slug, pointers: error.errors?.map((each) => each.pointer), detail: error.message }
  }
  return undefined
}

describe('malformed', () => {
  test.each([
    ['nothing', ' '],
    ['half an object', '{"a":1'],
    ['a trailing comma', '{"a":1,}'],
    ['a comment', '{"a":1/*x*/}'],
    ['single quotes', "{'a':1}"],
    ['NaN', '[NaN]'],
    ['a leading zero', '[01]'],
    ['a line break in text', '["a\nb"]'],
    ['two values', '{} {}'],
    ['a byte order mark', '\ufeff{}'],
    ['a bad escape', '["\\x41"]'],
  ])('%s', (_name, text) => {
    expect(refusal(text)?.slug).toBe('malformed-json')
  })

  test.each([
    ['a lone continuation byte', [0x22, 0x80, 0x22]],
    ['an overlong form', [0x22, 0xc0, 0xaf, 0x22]],
    ['a surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['Latin-1', [0x22, 0xe9, 0x22]],
  ])('%s is not UTF-8', (_name, bytes) => {
    expect(refusal(Buffer.from(bytes))).toMatchObject({ slug: 'malformed-json', detail: 'The body is not UTF-8.' })
  })

  test.each([
    ['{"a":1,"a":1}', ['/a']],
    ['{"a":1,"\\u0061":2}', ['/a']],
    ['{"x":[{"b":1},{"b":1,"c":{"d/e~":1,"d/e~":2},"b":2}]}', ['/x/1/c/d~1e~0', '/x/1/b']],
    ['{"__proto__":1,"__proto__":2}', ['/__proto__']],
  ])('%s names the repeated member', (text, pointers) => {
    expect(refusal(text)).toMatchObject({ slug: 'malformed-json', pointers })
  })

  test('names line and column, and does not quote the body', () => {
    const { detail } = refusal('{\n  "password": hunter2\n}') ?? {}
    expect(detail).toContain('line 2, column 15')
    expect(detail).not.toContain('hunter2')
  })
})

describe('not allowed', () => {
  test.each([
    ['NUL in a value', '{"a":["x","\\u0000"]}', ['/a/1']],
    ['NUL in a name', '{"a\\u0000":1}', ['/a\0']],
    ['half a pair', '{"a":"\\ud83d"}', ['/a']],
    ['the other half', '{"a":"\\udE00x"}', ['/a']],
    ['the halves in the wrong order', '{"a":"\\ude00\\ud83d"}', ['/a']],
    ['a half before an escape', '{"a":"\\ud83d\\n"}', ['/a']],
    ['__proto__', '{"a":{"__proto__":{}}}', ['/a/__proto__']],
    ['__proto__ in escapes', '{"\\u005f_proto__":1}', ['/__proto__']],
    ['an integer too large', '{"a":9007199254740992}', ['/a']],
    ['a negative one', '{"a":[-9007199254740993]}', ['/a/0']],
    ['one with 400 digits', `[${'9'.repeat(400)}]`, ['/0']],
    ['a number beyond a double', '{"a":1e999,"b":-1E+400}', ['/a', '/b']],
    ['one with long digits and a short exponent', `[${'9'.repeat(300)}e99]`, ['/0']],
  ])('%s', (_name, text, pointers) => {
    expect(refusal(text)).toMatchObject({ slug: 'validation-failed', pointers })
  })

  test('too deep, even where the text is no JSON and very long', () => {
    expect(refusal('[[[{"a":[1]}]]]', 4)).toMatchObject({ slug: 'validation-failed', pointers: ['/0/0/0/a'] })
    expect(refusal('[[[{"a":1}]]]', 4)).toBeUndefined()
    expect(refusal('['.repeat(5_000_000))?.slug).toBe('validation-failed')
    expect(refusal(`{"é":${'{"a":'.repeat(100)}`)?.pointers).toEqual([`/é${'/a'.repeat(63)}`])
  })
})

test.each([
  '9007199254740991',
  '-9007199254740991',
  '1e20',
  '12345678901234567890.5',
  '1e99',
  '-0',
  '"\\ud83d\\ude00 \\u00e9 \\"\\\\"',
  '{"a:b":":","c\\"":{"constructor":{"prototype":1}}}',
  '"a"',
  'null',
  ' [ ] ',
])('%s is taken as it is', (text) => {
  expect(parseStrictJson(Buffer.from(text))).toEqual(JSON.parse(text))
})

/** The same rules, written for clarity: every token of the text is looked at, with `JSON.parse` for each scalar. */
function naivelyRefused(text: string, depthMax: number): boolean {
  JSON.parse(text)
  const scopes: (Set<string> | null)[] = []
  let expectName = false
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],:]|true|false|null/g)) {
    if (token === '{') scopes.push(new Set())
    if (token === '[') scopes.push(null)
    if (scopes.length > depthMax) return true
    if (token === '}' || token === ']') scopes.pop()
    if (token.startsWith('"')) {
      const value = JSON.parse(token) as string
      if (value.includes('\0') || !value.isWellFormed()) return true
      if (expectName && (scopes.at(-1)?.has(value) || value === '__proto__')) return true
      if (expectName) scopes.at(-1)?.add(value)
    }
    if (/^-?\d/.test(token)) {
      if (!Number.isFinite(Number(token))) return true
      if (/^-?\d+$/.test(token) && (BigInt(token) > 2n ** 53n - 1n || BigInt(token) < 1n - 2n ** 53n)) return true
    }
    expectName = token === '{' || (token === ',' && scopes.at(-1) instanceof Set)
  }
  return false
}

const name = fc.constantFrom('a', 'b', ':', '"', '__proto__', '\0', 'é', '\ud800', '{', 'a\\')
const escaped = (text: string, everything: boolean) =>
  everything
    ? `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
    : JSON.stringify(text)
const nameText = fc.tuple(name, fc.boolean()).map(([text, everything]) => escaped(text, everything))
const scalar = fc.oneof(
  fc.constantFrom('1', '-0', '1.5', '9007199254740991', '9007199254740992', '1e308', '1e309', '1e99', 'true', 'null'),
  fc.tuple(fc.string({ unit: 'binary', maxLength: 6 }), fc.boolean()).map(([text, all]) => escaped(text, all)),
  fc.constantFrom('"😀"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\u0000"'),
)
const { jsonText } = fc.letrec<{ jsonText: string }>((tie) => ({
  jsonText: fc.oneof(
    { maxDepth: 5 },
    scalar,
    fc.array(tie('jsonText'), { maxLength: 3 }).map((items) => `[${items.join(' , ')}]`),
    fc
      .array(fc.tuple(nameText, tie('jsonText')), { maxLength: 3 })
      .map((members) => `{${members.map(([key, value]) => `${key} : ${value}`).join(',')}}`),
  ),
}))

test('refuses exactly what the naive reading of the rules refuses', () => {
  let refused = 0
  fc.assert(
    fc.property(jsonText, (text) => {
      const expected = naivelyRefused(text, 3)
      const found = refusal(text, 3)
      if (expected) refused++
      expect(found !== undefined).toBe(expected)
      if (found) expect(found.pointers?.length).toBeGreaterThan(0)
    }),
    { numRuns: 5000, seed: 7 },
  )
  expect(refused).toBeGreaterThan(500)
})

describe('in a body of 16 MiB', () => {
  const one = '{"skill_id":"sum-up","latency_ms":1840,"tokens_in":1250,"tokens_out":310,"cost":0.0085},'
  const many = one.repeat((16 * 1024 * 1024) / one.length - 1)

  /** Texts that are parsed, and members that the slow look compares with those before them. */
  function workOf(work: () => void): { parsed: number; compared: number } {
    const counts = { parsed: 0, compared: 0 }
    const { has } = Set.prototype
    const parse = vi.spyOn(JSON, 'parse')
    Set.prototype.has = function (value) {
      counts.compared++
      return has.call(this, value)
    }
    try {
      work()
    } finally {
      Set.prototype.has = has
      counts.parsed = parse.mock.calls.length
      parse.mockRestore()
    }
    return counts
  }

  test.each([
    ['a repeated member at the start', `{"a":1,"a":2,"events":[${many}0]}`, 'malformed-json', '/a'],
    ['one at the end', `{"events":[${many}0],"a":1,"a":2}`, 'malformed-json', ''],
    ['members that all are repeated', `{${'"a":1,'.repeat(2_700_000)}"b":1}`, 'malformed-json', '/a'],
    ['NUL at the end', `{"events":[${many}"\\u0000"]}`, 'validation-failed', ''],
    ['a number too large at the start', `{"a":1e999,"events":[${many}0]}`, 'validation-failed', '/a'],
  ])('%s is parsed once, and looked at in its beginning only', (_name, text, slug, pointer) => {
    let found: ReturnType<typeof refusal>
    const { parsed, compared } = workOf(() => {
      found = refusal(text)
    })
    expect([found?.slug, found?.pointers?.[0]]).toEqual([slug, pointer])
    expect(parsed).toBe(1)
    // Bodies have up to 2,700,000 members; searching all of them took two to four seconds.
    expect(compared).toBeGreaterThan(0)
    expect(compared).toBeLessThanOrEqual(200_000)
  })

  test('the scan reads each byte a bounded number of times', () => {
    const readsOf = (count: number) => {
      const text = `[${one.repeat(count)}"\\\\ \\u0041 \\ud83d\\ude00",1e+99,0]`
      let reads = 0
      const bytes = new Proxy(Buffer.from(text), {
        get: (target, key) => {
          if (typeof key === 'string' && /^\d+$/.test(key)) reads++
          return Reflect.get(target, key)
        },
      })
      scanJson(bytes, 64)
      return reads / text.length
    }
    expect(readsOf(100)).toBeLessThan(2.5)
    expect(readsOf(200) / readsOf(100)).toBeCloseTo(1, 1)
  })

  test('numbers of 16 digits are no reason to look closer', () => {
    const text = `[${'1700000000000000,'.repeat(900_000)}9007199254740991]`
    expect(refusal(text)).toBeUndefined()
    expect(refusal(text.replace(/.$/, ',9007199254740992]'))?.slug).toBe('validation-failed')
  })
})

test('points to the place of any breach', () => {
  const path = fc.array(fc.oneof(fc.constantFrom('a', 'b/c', '~', ''), fc.nat({ max: 2 })), { maxLength: 6 })
  fc.assert(
    fc.property(path, (steps) => {
      const text = steps.reduceRight<string>(
        (inner, step) =>
          typeof step === 'number' ? `[${'0,'.repeat(step)}${inner}]` : `{"z":1,${JSON.stringify(step)}:${inner}}`,
        '"\\u0000"',
      )
      expect(refusal(text)?.pointers).toEqual([jsonPointer(steps)])
    }),
    { seed: 7 },
  )
})
