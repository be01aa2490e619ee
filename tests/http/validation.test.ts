import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { withoutInvalidParts } from '../../server/http/body/valid-parts.ts'
import { compileSchema } from '../../server/http/request-validation.ts'
import { type HttpLab, startHttpLab } from './http-lab.ts'

let lab: HttpLab
beforeAll(async () => {
  lab = await startHttpLab({ checkResponses: true })
})
afterAll(() => lab.close())

const records = '/api/v1/hub/records'

async function errorsOf(path: string, options: Parameters<HttpLab['call']>[2] & { method?: string } = {}) {
  const { method = options.body === undefined ? 'GET' : 'POST', ...rest } = options
  const { status, body } = await lab.call(method, path, rest)
  if (status !== 400) return `${status}`
  return Object.fromEntries(body.errors.map((each: { pointer: string; detail: string }) => [each.pointer, each.detail]))
}

test('tells everything that is wrong, at its place, in words', async () => {
  const body = { kind: 'c', size: -1.5, tags: [1, 'x', 'y', 'z'], note: 5, 'a/b~': 1 }
  expect(await errorsOf(`${records}?x=1`, { body })).toEqual({
    '/query/x': 'is not a known query parameter',
    '/title': 'is required',
    '/a~1b~0': 'is not a known property',
    '/kind': 'must be one of "a", "b"',
    '/size': 'must be an integer',
    '/tags': 'must have at most 3 items',
    '/tags/0': 'must be a string',
    '/note': 'must be a string or null',
  })
})

test('what no schema can say is told with it, of the parts that are sound', async () => {
  const faulty = { title: 'taboo', kind: 'c', tags: [1, 'taboo'], 'a/b~': 1 }
  expect(await errorsOf(records, { body: faulty })).toEqual({
    '/a~1b~0': 'is not a known property',
    '/kind': 'must be one of "a", "b"',
    '/tags/0': 'must be a string',
    '/title': 'is taboo',
    '/tags/1': 'is taboo',
  })
  expect(await errorsOf(`${records}?x=1`, { body: { title: 'taboo', kind: 'a' } })).toEqual({
    '/query/x': 'is not a known query parameter',
    '/title': 'is taboo',
  })
  expect(await errorsOf(records, { body: { title: 'x', kind: 'a', tags: ['taboo', 'y', 'taboo', 1] } })).toEqual({
    '/tags': 'must have at most 3 items',
    '/tags/3': 'must be a string',
  })
})

test('sound parts are not copied, and the body stays as it is', () => {
  const body = { a: { b: [{ c: 1, 'd/e': 2 }, { f: 3 }], g: { h: 4 } }, i: [{ j: 5 }], k: 6 }
  const before = structuredClone(body)
  const faults = ['/a/b/0/d~1e', '/a/b/1/none', '/a/b/0/c/deeper', '/k', '/i/7/x', '/a/none/x'].map((pointer) => ({
    pointer,
    detail: 'is wrong',
  }))
  const sound = withoutInvalidParts(body, faults) as typeof body
  expect(sound).toEqual({ a: { b: [{ c: 1 }, { f: 3 }], g: { h: 4 } }, i: [{ j: 5 }] })
  expect(body).toEqual(before)
  expect(sound.a.g).toBe(body.a.g)
  expect(sound.i[0]).toBe(body.i[0])
  expect(withoutInvalidParts(body, [...faults, { pointer: '', detail: 'is wrong' }])).toBeUndefined()
  expect(withoutInvalidParts([1, 2, 3], [{ pointer: '/1', detail: 'is wrong' }])).toEqual([1, undefined, 3])
})

describe('a body', () => {
  test.each([
    ['[]', { '': 'must be an object' }],
    ['"x"', { '': 'must be an object' }],
    ['null', { '': 'must be an object' }],
    ['{"title":"","kind":"a"}', { '/title': 'must not be empty' }],
    ['{"title":"123456789012345678901","kind":"a"}', { '/title': 'must have at most 20 characters' }],
    ['{"title":1,"kind":"a"}', { '/title': 'must be a string' }],
    ['{"title":"x","kind":"a","size":"1"}', { '/size': 'must be an integer' }],
    ['{"title":"x","kind":"a","constructor":1}', { '/constructor': 'is not a known property' }],
  ])('%s is not coerced into shape', async (body, expected) => {
    expect(await errorsOf(records, { body })).toEqual(expected)
  })
})

describe('a query', () => {
  test('is read as numbers and booleans, with defaults', async () => {
    const { body } = await lab.call('GET', `${records}?limit=7&verify=true&skill_id=abc`)
    expect(body.query).toEqual({ limit: 7, verify: true, skill_id: 'abc' })
    expect((await lab.call('GET', records)).body.query).toEqual({ limit: 50 })
  })

  test.each([
    ['limit=0', { '/query/limit': 'must be at least 1' }],
    ['limit=1001', { '/query/limit': 'must be at most 1000' }],
    ['limit=', { '/query/limit': 'must be an integer' }],
    ['limit=0x10', { '/query/limit': 'must be an integer' }],
    ['limit=1e2', { '/query/limit': 'must be an integer' }],
    ['limit=%2010', { '/query/limit': 'must be an integer' }],
    ...['1.0', '05', '00', '-0', '+5', '%2B5', '5.', '1_0'].map((limit): [string, object] => [
      `limit=${limit}`,
      { '/query/limit': 'must be an integer' },
    ]),
    ['limit=-1', { '/query/limit': 'must be at least 1' }],
    ['limit=1.5', { '/query/limit': 'must be an integer' }],
    ['limit=99999999999999999999', { '/query/limit': 'must be an integer' }],
    ['verify=1', { '/query/verify': 'must be true or false' }],
    ['verify=TRUE', { '/query/verify': 'must be true or false' }],
    ['verify', { '/query/verify': 'must be true or false' }],
    ['limit=1&limit=1', { '/query/limit': 'must be given exactly once' }],
    ['skill_id=A', { '/query/skill_id': 'must be lower-case letters' }],
    ['skill_id=%ff', { '/query/skill_id': 'must be percent-encoded UTF-8' }],
    ['skill_id=a%00', { '/query/skill_id': 'must not contain the character NUL' }],
    ['Limit=1', { '/query/Limit': 'is not a known query parameter' }],
    ['__proto__=1', { '/query/__proto__': 'is not a known query parameter' }],
    ['limit[]=1', { '/query/limit[]': 'is not a known query parameter' }],
    ['%zz=1', { '/query/%zz': 'must be percent-encoded UTF-8' }],
  ])('%s is refused', async (query, expected) => {
    expect(await errorsOf(`${records}?${query}`)).toEqual(expected)
  })

  test('is taken by no operation that does not say so', async () => {
    expect(await errorsOf('/v1/health?x=1')).toEqual({ '/query/x': 'is not a known query parameter' })
  })
})

test('a query has at most a hundred parameters, and more are one error', async () => {
  const send = (count: number) =>
    lab.call('GET', `/api/v1/hub/records?${Array.from({ length: count }, (_, at) => `p${at}`).join('&')}`)
  expect((await send(100)).body.errors).toHaveLength(100)
  expect((await send(101)).body.errors).toEqual([{ pointer: '/query', detail: 'must have at most 100 parameters' }])
})

test.each(['date-time', 'date', 'uuid', 'uri', 'email'])('a long text is not checked for the format %s', (format) => {
  const check = compileSchema(Type.String({ format }))
  const looks = [
    vi.spyOn(String.prototype, 'split'),
    vi.spyOn(RegExp.prototype, 'exec'),
    vi.spyOn(RegExp.prototype, 'test'),
  ]
  const faults = check('t'.repeat(100_000))
  const looked = looks.flatMap(({ mock }) => [...mock.contexts, ...mock.calls.flat()])
  for (const look of looks) look.mockRestore()
  expect(faults).toHaveLength(1)
  expect(looked.filter((each) => typeof each === 'string' && each.length > 8192)).toEqual([])
})

test('a path parameter is checked', async () => {
  expect(await errorsOf(`${records}/nonsense`)).toEqual({ '/path/record_id': 'must be a UUID' })
  expect(await errorsOf(`${records}/${'x'.repeat(5000)}`)).toEqual({ '/path/record_id': 'must be a UUID' })
  expect(await errorsOf(`${records}/a%00b`)).toEqual({ '/path/record_id': 'must not contain the character NUL' })
})

test('a header is checked, and may be there once', async () => {
  expect(await errorsOf(records, { headers: { 'if-match': 'x'.repeat(11) } })).toEqual({
    '/headers/if-match': 'must have at most 10 characters',
  })
  const repeated = await lab.app.inject({
    url: records,
    headers: {
      host: 'localhost',
      authorization: 'Bearer acme.all',
      'x-service-tenant': 'acme',
      'if-match': ['a', 'b'] as never,
    },
  })
  expect(repeated.statusCode).toBe(400)
})

test('fifty thousand errors are not fifty thousand entries', async () => {
  const { status, text, body } = await lab.call('POST', records, { body: `{"tags":[${'1,'.repeat(49_000)}1]}` })
  expect(status).toBe(400)
  expect(text.length).toBeLessThan(200_000)
  expect(body.errors.length).toBeLessThanOrEqual(2000)
  expect(body.errors).toContainEqual({ pointer: '/tags/0', detail: 'must be a string' })
})

test('no value is looked at after two thousand errors', () => {
  let reads = 0
  const items = new Proxy(
    Array.from({ length: 50_000 }, () => ({})),
    {
      get: (target, key) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads++
        return Reflect.get(target, key)
      },
    },
  )
  const text = Type.Object({ a: Type.String() }, { additionalProperties: false })
  const errorsIn = compileSchema(Type.Object({ list: Type.Array(Type.Union([Type.String(), text])) }))
  expect(errorsIn({ list: items }).at(0)?.pointer).toBe('/list/0')
  expect(reads).toBeLessThan(5000)
  expect(errorsIn({ list: ['x', { a: 'y' }] })).toEqual([])
  expect(errorsIn({ list: ['x', { a: 1 }] }).map(({ pointer }) => pointer)).toEqual(['/list/1'])
  expect(compileSchema(Type.Array(Type.Array(Type.String())))(items)).toHaveLength(2000)
})

test('an answer that its schema does not describe fails, where answers are checked', async () => {
  const path = `${records}/01890a5d-ac96-774b-bcce-b302099a8057/verify`
  expect((await lab.call('POST', path)).status).toBe(500)
  expect(lab.log.join('')).toContain('verifyRecord 200 differs from its schema')
  const unchecked = await startHttpLab()
  onTestFinished(() => unchecked.close())
  expect((await unchecked.call('POST', path)).body).toEqual({ verified: 'perhaps' })
})
