import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import { scanJson } from '../../server/http/body/json-scan.ts'
import { errorAt, jsonPointer } from '../../server/http/body/json-violations.ts'
import { JsonSyntaxFault, walkJson } from '../../server/http/body/json-walk.ts'
import { parseStrictJson, parseStrictJsonInTurns } from '../../server/http/body/strict-json.ts'
import { runToEnd } from '../../server/http/event-loop-yielder.ts'
import { countedBytes } from './counted-bytes.ts'

function refusal(text: string | Buffer, depth = 64) {
  try {
    parseStrictJson(Buffer.from(text as string), { depth })
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

describe('a large body', () => {
  const one = '{"skill_id":"sum-up","latency_ms":1840,"tokens_in":1250,"tokens_out":310,"cost":0.0085},'
  const many = one.repeat((4 * 1024 * 1024) / one.length - 1)

  test.each([
    ['a repeated member at the start', `{"a":1,"a":2,"events":[${many}0]}`, 'malformed-json', '/a'],
    ['one at the end', `{"events":[${many}0],"a":1,"a":2}`, 'malformed-json', '/a'],
    ['NUL at the end', `{"events":[${many}"\\u0000"]}`, 'validation-failed', `/events/${many.length / one.length}`],
    ['a number too large at the start', `{"a":1e999,"events":[${many}0]}`, 'validation-failed', '/a'],
    ['a syntax error at the end', `{"events":[${many}0}`, 'malformed-json', ''],
  ])('with %s is parsed once, and its place is named', (_name, text, slug, pointer) => {
    const found = refusal(text)
    expect([found?.slug, found?.pointers?.[0]]).toEqual([slug, pointer])
  })

  test('is parsed in turns with other work', async () => {
    let turns = 0
    let ended = false
    const others = (async () => {
      for (; !ended; turns++) await setImmediate()
    })()
    const value = await parseStrictJsonInTurns(Buffer.from(`[${one.repeat(50_000)}0]`))
    ended = true
    await others
    expect(value).toHaveLength(50_001)
    expect(turns).toBeGreaterThan(3)
  })

  test('is parsed in turns also where a few texts make it large', () => {
    const texts = Array.from({ length: 6 }, (_, at) => `${at}${'\n'.repeat(500_000)}`)
    const bytes = Buffer.from(JSON.stringify(texts))
    const parse = vi.spyOn(JSON, 'parse')
    try {
      expect(parseStrictJson(bytes)).toEqual(texts)
      expect(Math.max(...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(1_100_000)
    } finally {
      parse.mockRestore()
    }
    let turns = 0
    for (const work = walkJson(bytes.toString(), 64); !work.next().done; ) turns++
    expect(turns).toBeGreaterThan(4)
  })

  test('has no name of its own in a hundred errors', () => {
    const repeated = Array.from({ length: 200 }, (_, at) => `"m${at}":1,"m${at}":1`).join(',')
    const { pointers = [], detail = '' } = refusal(`{"a":{"${'x'.repeat(1_000_000)}":{${repeated}}}}`) ?? {}
    expect([pointers.length, new Set(pointers)]).toEqual([100, new Set(['/a'])])
    expect(detail.length).toBeLessThan(10_000)
  })

  test('is scanned by reading each byte a bounded number of times', () => {
    const readsOf = (count: number) => {
      const text = `[${one.repeat(count)}"\\\\ \\u0041 \\ud83d\\ude00",1e+99,0]`
      const bytes = countedBytes(text)
      runToEnd(scanJson(bytes.buffer, { depth: 64 }))
      return bytes.reads() / text.length
    }
    expect(readsOf(100)).toBeLessThan(2.5)
    expect(readsOf(200) / readsOf(100)).toBeCloseTo(1, 1)
  })

  test('with numbers of 16 digits is no reason to look closer', () => {
    const text = `[${'1700000000000000,'.repeat(900_000)}9007199254740991]`
    expect(refusal(text)).toBeUndefined()
    expect(refusal(text.replace(/.$/, ',9007199254740992]'))?.slug).toBe('validation-failed')
  })
})

/** Texts near JSON: those that are JSON, with a character taken out, put in or repeated. */
const nearlyJson = fc
  .tuple(
    jsonText,
    fc.nat(),
    fc.constantFrom('', '"', ',', ':', '{', '}', '[', ']', '0', '\\', 't', ' ', '\n', '-', '1e'),
  )
  .map(([text, at, put]) => {
    const place = at % (text.length + 1)
    return text.slice(0, place) + put + text.slice(place + (at % 2))
  })

test('the walk takes exactly what the engine takes, as the same value', () => {
  let taken = 0
  fc.assert(
    fc.property(nearlyJson, (text) => {
      let expected: unknown
      let isJson = true
      try {
        expected = JSON.parse(text)
        taken++
      } catch {
        isJson = false
      }
      if (isJson) expect(runToEnd(walkJson(text, 64)).value).toEqual(expected)
      else expect(() => runToEnd(walkJson(text, 64))).toThrow(JsonSyntaxFault)
    }),
    { numRuns: 3000, seed: 7 },
  )
  expect(taken).toBeGreaterThan(300)
})

test('repeats no long names, and points above them', () => {
  const detail = 'has a member with a long name, which must be a string'
  expect(errorAt(['a', '~'.repeat(1024)], 'must be a string')).toEqual({ pointer: '/a', detail })
  expect(errorAt(Array(11).fill('n'.repeat(100)), 'must be a string', '/query').pointer).toBe(
    `/query${`/${'n'.repeat(100)}`.repeat(10)}`,
  )
  const text = `${`{"${'n'.repeat(100)}":`.repeat(60)}["\\u0000","\\u0000"]${'}'.repeat(60)}`
  expect(refusal(text)?.pointers).toEqual(Array(2).fill(`/${'n'.repeat(100)}`.repeat(10)))
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
