import { expect, test } from 'vitest'
import { retryAfterSeconds } from '../../sdk/typescript/src/hub-error.ts'
import { HubClient, HubConnectionError, HubError } from '../../sdk/typescript/src/index.ts'
import { jitteredMs } from '../../sdk/typescript/src/retry.ts'
import { answerJson, answerProblem, serve, stubHub } from './stub-hub.ts'

const connect = (baseUrl: string, options = {}) =>
  new HubClient({ baseUrl, tenant: 'acme', accessToken: 'token', ...options })
const event = { skill_id: 's' } as never
const busy = answerProblem(503, 'hub-unavailable')
const limited = answerProblem(429, 'rate-limited', { 'retry-after': '0' })
const ok = answerJson(200, { records: [], next_cursor: null })

test('repeats what is safe or has an idempotency key, which stays the same; and nothing else', async () => {
  const read = await stubHub(busy, busy, ok)
  await connect(read.baseUrl).get('/x')
  expect(read.requests).toHaveLength(3)
  expect(new Set(read.requests.map(({ headers }) => headers['x-service-request-id'])).size).toBe(3)

  const written = await stubHub(busy, answerJson(201, {}))
  await connect(written.baseUrl).telemetry.send(event)
  const keys = written.requests.map(({ headers }) => headers['idempotency-key'])
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
  expect(keys).toEqual([keys[0], keys[0]])

  const posted = await stubHub(busy)
  await expect(connect(posted.baseUrl).post('/x')).rejects.toMatchObject({ slug: 'hub-unavailable', status: 503 })
  await expect(connect(posted.baseUrl).exports.start()).rejects.toThrow(HubError)
  expect(posted.requests).toHaveLength(2)
})

test('repeats after a refusal by a rate limit, which executed nothing', async () => {
  const { baseUrl, requests } = await stubHub(limited, ok)
  await connect(baseUrl).post('/x')
  expect(requests).toHaveLength(2)
})

test('gives up after the retries, and at once if Retry-After is too long', async () => {
  const down = await stubHub(busy)
  await expect(connect(down.baseUrl, { retries: 2 }).get('/x')).rejects.toThrow(HubError)
  expect(down.requests).toHaveLength(3)
  const long = await stubHub(answerProblem(429, 'rate-limited', { 'retry-after': '121' }))
  await expect(connect(long.baseUrl).get('/x')).rejects.toMatchObject({ retryAfter: 121 })
  expect(long.requests).toHaveLength(1)
})

test('repeats a read after a lost connection, and an unrepeatable write not', async () => {
  let requests = 0
  const baseUrl = await serve((request, response) => {
    requests += 1
    if (requests === 1 || request.method === 'POST') request.socket.destroy()
    else response.end('{}')
  })
  await connect(baseUrl).get('/x')
  expect(requests).toBe(2)
  await expect(connect(baseUrl).post('/x')).rejects.toThrow(HubConnectionError)
  expect(requests).toBe(3)
})

test('ends an attempt that gets no answer, and a wait that is aborted', async () => {
  const silent = await serve(() => undefined)
  await expect(connect(silent, { timeoutMs: 20, retries: 0 }).get('/x')).rejects.toThrow(/no response within 20 ms/)
  const { baseUrl } = await stubHub(answerProblem(429, 'rate-limited', { 'retry-after': '100' }))
  const stopped = new AbortController()
  const waiting = connect(baseUrl).get('/x', {}, { signal: stopped.signal })
  setTimeout(() => stopped.abort(new Error('enough')), 20)
  await expect(waiting).rejects.toThrow('enough')
})

test('asks once for a token of its own before it gives up after a 401', async () => {
  const refused = await stubHub(answerProblem(401, 'authentication-failed'))
  await expect(connect(refused.baseUrl).get('/x')).rejects.toMatchObject({ status: 401 })
  expect(refused.requests).toHaveLength(1)
  const { baseUrl, requests } = await stubHub(answerProblem(401, 'authentication-failed'), ok)
  let tokens = 0
  await connect(baseUrl, { accessToken: async () => `token${++tokens}` }).get('/x')
  expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer token1', 'Bearer token2'])
})

test('refuses a token that no header can carry, and does not quote it', async () => {
  const { baseUrl, requests } = await stubHub(answerJson(200, { access_token: 'secret ü', expires_in: 600 }), ok)
  const account = { accessToken: undefined, clientId: 'c', clientSecret: 's' }
  const tokens = ['secret\n', 'secret words', 'secret\u2026', () => 'secret\0', async () => undefined]
  for (const options of [account, ...tokens.map((accessToken) => ({ accessToken }))]) {
    const error = await connect(baseUrl, options)
      .get('/x')
      .catch((thrown: Error) => thrown)
    expect(error).toMatchObject({
      name: 'MalformedToken',
      message: expect.stringMatching(/^The access token is empty/),
    })
    expect(String(error)).not.toContain('secret')
  }
  expect(requests.map(({ path }) => path)).toEqual(['/api/v1/oauth/token'])
})

test('describes problems: slug, pointer, all faults and the request', async () => {
  const document = {
    type: 'https://hub.example.com/errors/validation-failed',
    title: 'Validation failed',
    detail: 'Two faults',
    instance: 'r-1',
    errors: [{ pointer: '/a', detail: 'is required' }, { pointer: '/b', detail: 'is unknown' }, 7],
  }
  const { baseUrl } = await stubHub(answerJson(400, document))
  const error: HubError = await connect(baseUrl)
    .records.write({} as never)
    .catch((reason) => reason)
  expect(error).toMatchObject({ status: 400, slug: 'validation-failed', pointer: '/a', requestId: 'r-1', document })
  expect(error.errors).toHaveLength(2)
  const strange = await stubHub((response) => void response.writeHead(400).end('<html>'))
  await expect(connect(strange.baseUrl).get('/x')).rejects.toMatchObject({ slug: 'unknown', document: {} })
})

test('follows cursors until null, and ends if the cursor does not move', async () => {
  const page = (ids: string[], next: string | null) =>
    answerJson(200, { records: ids.map((record_id) => ({ record_id })), next_cursor: next })
  const { baseUrl, requests } = await stubHub(page(['1', '2'], 'c/1'), page([], 'c2'), page(['3'], null))
  const found = await Array.fromAsync(connect(baseUrl).records.list({ limit: 2 }), ({ record_id }) => record_id)
  expect(found).toEqual(['1', '2', '3'])
  expect(requests.map(({ path }) => path.split('?')[1])).toEqual([
    'limit=2',
    'limit=2&cursor=c%2F1',
    'limit=2&cursor=c2',
  ])
  const circle = await stubHub(page(['1'], 'same'))
  await expect(Array.fromAsync(connect(circle.baseUrl).search('x').pages())).rejects.toThrow()
  expect(circle.requests.length).toBeLessThan(4)
})

test('refuses options that would expose the token or address something else', () => {
  const good = { baseUrl: 'https://hub.example.com', tenant: 'acme', accessToken: 't' }
  for (const bad of [
    { baseUrl: 'http://hub.example.com' },
    { baseUrl: 'ftp://hub.example.com' },
    { baseUrl: 'https://user@hub.example.com' },
    { baseUrl: '' },
    { tenant: 'a\r\nb' },
    { accessToken: '' },
    { clientId: 'c', clientSecret: 's' },
    { retries: Number.NaN },
    { timeoutMs: -1 },
  ])
    expect(() => new HubClient({ ...good, ...bad }), JSON.stringify(bad)).toThrow(TypeError)
  expect(() => new HubClient({ ...good, baseUrl: 'http://hub.internal', allowHttp: true })).not.toThrow()
  const client = new HubClient(good)
  expect(() => client.records.get('')).toThrow(TypeError)
  expect(() => client.records.get('..')).toThrow(TypeError)
  expect(() => client.exports.get('../records')).toThrow(TypeError)
  return expect(client.fetch('https://elsewhere.example/x')).rejects.toThrow(TypeError)
})

test('reads Retry-After as seconds and as a date, and spreads retries over the whole pause', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(retryAfterSeconds('7', now)).toBe(7)
  expect(retryAfterSeconds('Thu, 01 Jan 2026 00:00:30 GMT', now)).toBe(30)
  expect(retryAfterSeconds('Wed, 31 Dec 2025 23:59:00 GMT', now)).toBe(0)
  for (const bad of [null, '', 'soon', '-']) expect(retryAfterSeconds(bad, now)).toBeUndefined()
  const pauses = Array.from({ length: 1000 }, () => jitteredMs(3))
  expect(Math.max(...pauses)).toBeLessThanOrEqual(2000)
  expect(pauses.filter((pause) => pause < 500).length).toBeGreaterThan(100)
  expect(jitteredMs(1000)).toBeLessThanOrEqual(20_000)
})
