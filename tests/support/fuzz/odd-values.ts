import type { Random } from './random.ts'

/** Texts that break what is careless with encodings, lengths, templates, queries, logs or dates. */
const oddStrings: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udc00',
  '\ud83d\ude00'.repeat(3000),
  'a'.repeat(10_000),
  '\u202egnp.exe',
  '\u0645\u0631\u062d\u0628\u0627',
  '\ufdfa'.repeat(400),
  'Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d',
  '\ufeff',
  '\u2028\u2029',
  '\u0130\u00df\ufb01',
  '\r\nX-Injected: 1',
  '\u001b[31mred\u001b[0m',
  "' or '1'='1",
  '"; select pg_sleep(9); --',
  '$1',
  '\\',
  '\\N',
  '%00',
  '%s%n%x',
  '../../../etc/passwd',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text itself is the attack
  '${7*7}{{7*7}}<%=7*7%>',
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  '1e999',
  '-0',
  '0x10',
  '\u0661\u0662\u0663',
  '9007199254740993',
  'true',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '2026-02-30T25:61:61Z',
  '2026-01-01',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59.9999999-23:59',
  '2016-12-31T23:59:60Z',
  '2026-01-01t00:00:00z',
  '+275760-09-13T00:00:00Z',
  `2026-01-01T00:00:00.${'9'.repeat(200)}Z`,
  'user:',
  'custom:',
  '1.0.0-'.repeat(50),
  `${'9'.repeat(400)}.0.0`,
]

export function oddString(random: Random): string {
  if (random.chance(0.8)) return random.pick(oddStrings)
  const length = random.int(1, 40)
  return String.fromCharCode(...Array.from({ length }, () => random.int(0, random.chance(0.5) ? 0x7f : 0xffff)))
}

const oddNumbers: readonly number[] = [
  0,
  -0,
  -1,
  1,
  0.1,
  1.5,
  599_999,
  600_000,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  1e9,
  1_000_000_001,
  1e21,
  1e308,
  5e-324,
  1e-7,
  0.000_000_5,
  -1e9,
]

export function oddNumber(random: Random): number {
  return random.chance(0.8) ? random.pick(oddNumbers) : (random.next() - 0.5) * 10 ** random.int(-8, 20)
}

/** Any JSON value, of any type. */
export function oddValue(random: Random): unknown {
  switch (random.int(0, 7)) {
    case 0:
      return null
    case 1:
      return random.chance(0.5)
    case 2:
      return oddNumber(random)
    case 3:
    case 4:
      return oddString(random)
    case 5:
      return random.chance(0.5) ? [] : [oddString(random), oddNumber(random), {}]
    case 6:
      return random.chance(0.5) ? {} : JSON.parse(`{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}`)
    default:
      return nested(random.pick([3, 63, 64, 65, 500]), random.chance(0.5))
  }
}

function nested(depth: number, inObjects: boolean): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = inObjects ? { a: value } : [value]
  return value
}

/** Tokens that no value serialises to. */
export const oddTokens: readonly string[] = [
  '1e999',
  '-1e999',
  '-0',
  '01',
  '+1',
  '.5',
  '1.',
  '0x1f',
  'NaN',
  'Infinity',
  'undefined',
  'True',
  "'x'",
  '9007199254740993',
  `1${'0'.repeat(400)}`,
  `0.${'1'.repeat(2000)}`,
  '"\\ud800"',
  '"\\u0000"',
  '"\\x41"',
  '"\t"',
  '/**/1',
  '[1,]',
  '{"a":1,}',
  '{"a":1,"a":2}',
  '{"__proto__":{"polluted":true}}',
  '{"\\u005f_proto__":{"polluted":true}}',
  '['.repeat(20_000),
  `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
]

/** Percent-encodes any text, also one that is no valid UTF-16. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
