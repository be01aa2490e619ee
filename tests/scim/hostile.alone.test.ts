import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { scimFilterDepthMax, scimFilterLengthMax, scimFilterTermsMax, scimPatchWorkMax } from '../../contract/limits.ts'
import { parseFilter } from '../../server/modules/scim/filter-parser.ts'
import { membersChanged } from '../../server/modules/scim/member-change.ts'
import { applyPatch } from '../../server/modules/scim/patch.ts'
import { readPatch } from '../../server/modules/scim/patch-operations.ts'
import { parsePatchPath } from '../../server/modules/scim/patch-path.ts'
import { groupResource, userResource } from '../../server/modules/scim/scim-schemas.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { connectScim, patchSchema, type ScimClient } from './scim-client.ts'

let hub: TestHub
let scim: ScimClient
beforeAll(async () => {
  hub = await startHub()
  scim = await connectScim(hub, 'acme')
})
afterAll(() => hub.stop())

/** What filters and paths were seen to break elsewhere, of a size that an address still holds. */
const hostile: Record<string, string> = {
  __proto__: '__proto__ eq "a"',
  '__proto__ below an attribute': 'name.__proto__ eq "a"',
  '__proto__ below __proto__': '__proto__.__proto__[polluted eq "a"]',
  constructor: 'constructor.prototype eq "a"',
  hasOwnProperty: 'hasOwnProperty pr',
  '5,000 open parentheses': '('.repeat(5000),
  '2,500 pairs of parentheses': `${'('.repeat(2500)}userName pr${')'.repeat(2500)}`,
  '5,000 closing parentheses': ')'.repeat(5000),
  'many not': 'not ('.repeat(1500),
  'nested brackets': 'emails['.repeat(700),
  'a run of backslashes': `userName eq "${'\\'.repeat(5001)}`,
  'a run of backslashes that ends': `userName eq "${'\\'.repeat(4999)}" x`,
  'backslashes outside': '\\'.repeat(5000),
  'quotation marks': '"'.repeat(5001),
  spaces: ' '.repeat(8000),
  dots: `a${'.'.repeat(5000)}`,
  colons: `urn${':'.repeat(5000)}`,
  'a long word': `${'a'.repeat(8000)} eq "b"`,
  digits: `userName eq ${'9'.repeat(7000)}`,
  'minus signs': `userName eq ${'-'.repeat(7000)}`,
  'many and': `${'userName pr and '.repeat(500)}userName pr`,
  'many or': `${'title pr or '.repeat(600)}title pr`,
  'an unclosed text': `userName eq "${'a'.repeat(7000)}`,
  SQL: 'userName eq "a\' or 1=1 --" or 1 eq 1',
  NUL: 'userName eq "\\u0000"',
  'half a pair': 'userName eq "\\udc00"',
  'characters of other scripts': `${'𝒾'.repeat(900)} eq "a"`,
  'a control character': 'userName\u0007eq "a"',
}

const counter = vi.hoisted(() => ({ steps: 0 }))
vi.mock(import('../../server/modules/scim/filter-tokens.ts'), async (load) => {
  const product = await load()
  const counted = (text: string) =>
    new Proxy(product.filterTokens(text), {
      get: (target, key) => {
        counter.steps++
        return Reflect.get(target, key)
      },
    })
  return { ...product, filterTokens: counted }
})

/** Steps of the parser: how often it reads a token. The limits bound them, whatever the length of the text. */
const stepsMax = 8 * (scimFilterTermsMax + scimFilterDepthMax)

function stepsOf(parse: () => unknown): number {
  const before = counter.steps
  parse()
  return counter.steps - before
}

/** Counts the reads of values of multi-valued attributes, in the copy that a change is made in. */
function countingReads<Result>(work: () => Result): { result: Result; reads: number } {
  let reads = 0
  const counted = (value: object) =>
    new Proxy(value, {
      get: (target, key) => {
        reads++
        return Reflect.get(target, key)
      },
      ownKeys: (target) => {
        reads++
        return Reflect.ownKeys(target)
      },
    })
  const copy = structuredClone
  const copying = vi.spyOn(globalThis, 'structuredClone').mockImplementation((original) => {
    const members = Object.entries(copy(original) as object)
    return Object.fromEntries(
      members.map(([name, member]) => [name, Array.isArray(member) ? member.map(counted) : member]),
    )
  })
  try {
    return { result: work(), reads }
  } finally {
    copying.mockRestore()
  }
}

/** A text whose length can be asked for, and nothing else. */
const unreadable = (length: number) =>
  new Proxy(Object.create(null), {
    get: (_, key) => (key === 'length' ? length : expect.unreachable(`${String(key)} is read`)),
  }) as string

describe.each(Object.entries(hostile))('%s', (_what, text) => {
  test('as a filter: 400 invalidFilter after a bounded number of steps', async () => {
    const refusal = () =>
      expect(() => parseFilter(userResource, text)).toThrow(
        expect.objectContaining({ extensions: { scimType: 'invalidFilter' } }),
      )
    expect(stepsOf(refusal)).toBeLessThan(stepsMax)
    // An address holds 16 KiB; .search takes what is longer.
    const { status, body } = await scim.post('/Users/.search', { filter: text })
    expect([status, body.scimType]).toEqual([400, 'invalidFilter'])
  })

  test('as a path, and in the brackets of one: 400 after a bounded number of steps', async () => {
    for (const path of [text, `emails[${text}].value`, `emails[type eq "work"].${text}`]) {
      const refusal = () =>
        expect(() => parsePatchPath(userResource, path)).toThrow(
          expect.objectContaining({ extensions: { scimType: 'invalidPath' } }),
        )
      expect(stepsOf(refusal)).toBeLessThan(stepsMax)
    }
    const { status, body } = await scim.patch('/Users/usr_nobody', [{ op: 'replace', path: text, value: 'x' }])
    expect([status, body.scimType]).toEqual([400, 'invalidPath'])
  })
})

test('in the address they are refused too', async () => {
  for (const [what, text] of Object.entries(hostile)) {
    const encoded = encodeURIComponent(text.toWellFormed())
    if (encoded.length > 15_000) continue
    const { status, body } = await scim.get(`/Users?filter=${encoded}`)
    expect([what, status, body.scimType]).toEqual([what, 400, 'invalidFilter'])
    const sorted = await scim.get(`/Users?sortBy=${encoded}&attributes=${encoded}`)
    expect([what, sorted.status]).toEqual([what, 400])
  }
})

test('huge texts are refused by their length, before anything is looked at', async () => {
  const huge = `userName eq "${'a'.repeat(3_000_000)}"`
  for (const parse of [parseFilter, parsePatchPath]) {
    expect(() => parse(userResource, unreadable(huge.length))).toThrow(`longer than ${scimFilterLengthMax} characters`)
  }
  const { status, body } = await scim.post('/Users/.search', { filter: huge })
  expect([status, body.scimType]).toEqual([400, 'invalidFilter'])
})

test('the steps of a filter and of a path are counted', () => {
  expect(stepsOf(() => parseFilter(userResource, 'userName pr and title pr'))).toBeGreaterThan(4)
  expect(stepsOf(() => parsePatchPath(userResource, 'emails[type eq "work"].value'))).toBeGreaterThan(4)
})

test('deep and long filters that are allowed are answered', async () => {
  const deep = `${'('.repeat(15)}userName pr${')'.repeat(15)}`
  expect((await scim.find('Users', deep)).status).toBe(200)
  const long = Array.from({ length: 100 }, (_, at) => `title eq "${at}"`).join(' or ')
  expect((await scim.post('/Users/.search', { filter: long })).status).toBe(200)
})

test('nothing was added to the prototype of objects', async () => {
  await scim.post(
    '/Users',
    '{"userName":"p","constructor":{"prototype":{"polluted":1}},"name":{"constructor":{"polluted":1}}}',
  )
  await scim.patch('/Users/usr_nobody', [{ op: 'add', value: { 'constructor.prototype.polluted': 1 } }])
  expect({}).not.toHaveProperty('polluted')
  expect(Object.keys(Object.prototype)).toEqual([])
})

describe('PATCH with more work than a directory ever asks for', () => {
  const values = (count: number) => Array.from({ length: count }, (_, at) => ({ value: `a${at}`, type: `t${at}` }))
  const repeated = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at))
  const terms = repeated(99, (at) => `value co "zz${at}"`).join(' or ')
  const attacks: Record<string, () => object[]> = {
    'the same values, again and again': () =>
      repeated(100, () => ({ op: 'add', path: 'phoneNumbers', value: values(500) })),
    'other values, in pairs': () =>
      repeated(40, () => ({ op: 'remove', path: 'phoneNumbers', value: repeated(500, (at) => ({ value: `b${at}` })) })),
    'long filters on many values': () =>
      repeated(60, () => ({ op: 'remove', path: `phoneNumbers[not (${terms})].display` })),
    'a short filter a thousand times': () =>
      repeated(1000, (at) => ({ op: 'replace', path: `phoneNumbers[type eq "t${at}"].display`, value: 'd' })),
    'long texts in a filter': () =>
      repeated(15, () => ({ op: 'remove', path: `phoneNumbers[value ne "${'É'.repeat(8000)}"].display` })),
    'a thousand long paths': () =>
      repeated(1000, () => ({ op: 'remove', path: `phoneNumbers[not (${terms})].display` })),
    'names without end': () =>
      repeated(60, () => ({ op: 'add', value: Object.fromEntries(repeated(900, (at) => [`title${at}`, 1])) })),
  }
  let id: string
  beforeAll(async () => {
    id = (await scim.user('values', { phoneNumbers: values(500) })).id
  })

  test.each(Object.entries(attacks))(
    '%s: 400 tooMany, before more values are read than one request may',
    async (_what, make) => {
      const operations = make()
      const body = { schemas: [patchSchema], Operations: operations }
      const { attributes } = await hub.test.database.withTenant('acme', async (tx) => {
        const user = await hub.modules.roster.directory.user(tx, id)
        return user!
      })
      const { result: refusal, reads } = countingReads(() => {
        try {
          const steps = readPatch(userResource, id, body)
          return applyPatch({ userName: 'values', ...attributes } as never, steps)
        } catch (error) {
          return error
        }
      })
      expect(refusal).toMatchObject({ extensions: { scimType: 'tooMany' } })
      expect(reads).toBeLessThan(2 * scimPatchWorkMax)
      const { status, body: answer } = await scim.patch(`/Users/${id}`, operations)
      expect([status, answer.scimType]).toEqual([400, 'tooMany'])
    },
  )

  test('members of a group that are chosen by a filter count too', () => {
    const members = repeated(10_000, (at) => ({ userId: `usr_${at}`, display: `d${at}` }))
    const Operations = repeated(20, () => ({ op: 'remove', path: 'members[display co "q"]' }))
    expect(() => membersChanged(readPatch(groupResource, 'grp_1', { Operations }), members)).toThrow(
      expect.objectContaining({ extensions: { scimType: 'tooMany' } }),
    )
  })

  test('what directories do is far below: a thousand members by filter, 60 changes of 500 values', async () => {
    const one = repeated(1000, (at) => ({
      op: 'remove',
      path: `members[value eq "usr_${String(at).padStart(24, '0')}"]`,
    }))
    const group = await scim.group('many')
    expect((await scim.patch(`/Groups/${group.id}`, one)).status).toBe(200)
    const some = repeated(60, (at) => ({ op: 'replace', path: `phoneNumbers[type eq "t${at}"].display`, value: 'd' }))
    expect((await scim.patch(`/Users/${id}`, some)).status).toBe(200)
    const more = [{ op: 'add', path: 'phoneNumbers', value: repeated(501, (at) => ({ value: `c${at}` })) }]
    const added = await scim.patch(`/Users/${id}`, more)
    expect([added.status, added.body.scimType]).toEqual([400, 'invalidValue'])
  })
})
