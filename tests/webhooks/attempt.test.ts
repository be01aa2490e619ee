import { expect, test } from 'vitest'
import { messageBody } from '../../server/modules/webhooks/deliveries/deliveries-service.ts'
import { attemptDelivery, loggedResponse, requestBody } from '../../server/modules/webhooks/worker/attempt.ts'
import type { PostResponse } from '../../server/outbound/guarded-post.ts'
import { OutboundError } from '../../server/outbound/outbound-error.ts'

const row = {
  message_id: '01890a5d-ac96-774b-bcce-b302099a8057',
  kind: 'governance.custom."x"',
  occurred_at: '2026-01-02T03:04:05.678901Z',
  sequence: 7,
  data: JSON.stringify({ b: 'ä"\u2028\\', a: [1, null, { __proto__: 1 }], '': 1e21 }),
}

test('what is sent is what the log of deliveries shows', () => {
  expect(requestBody('acme', row)).toBe(JSON.stringify(messageBody('acme', row)))
})

const answer = (more: Partial<PostResponse>): PostResponse => ({
  ...{ status: 200, headers: {}, beginning: Buffer.alloc(0), headMs: 12.3 },
  ...more,
})

test('of an answer the first headers are kept, and no cookie', () => {
  const many = Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`x-${at}`, 'v']))
  const { headers } = loggedResponse(answer({ headers: { 'set-cookie': ['a=b'], via: 'a, b', ...many } }))
  expect(Object.keys(headers)).toHaveLength(50)
  expect(headers).toMatchObject({ via: 'a, b', 'x-0': 'v' })
  expect(headers).not.toHaveProperty('set-cookie')
  const long = loggedResponse(answer({ headers: { first: 'x'.repeat(4000), second: 'y'.repeat(200) } }))
  expect(Object.keys(long.headers)).toEqual(['first'])
})

test('of a body the first characters are kept, printable and whole', () => {
  const bodyOf = (text: string | Buffer, headers = {}) =>
    loggedResponse(answer({ beginning: Buffer.from(text), headers })).body
  expect(bodyOf('a\u0000b\u001b[31m\nc\r')).toBe('a\ufffdb\ufffd[31m\nc\ufffd')
  expect([...(bodyOf('😀'.repeat(2000)) ?? '')]).toHaveLength(1024)
  expect(bodyOf(Buffer.from([0xff, 0x41]))).toBe('\ufffdA')
  expect(bodyOf('')).toBeUndefined()
  expect(bodyOf('{}', { 'content-type': 'application/problem+json; charset=utf-8' })).toBe('{}')
  expect(bodyOf('PNG', { 'content-type': 'image/png' })).toBeUndefined()
  expect(bodyOf('x', { 'content-encoding': 'gzip' })).toBeUndefined()
})

const delivery = {
  ...{ ...row, delivery_id: 'd', webhook_id: 'w', tries: 0, attempt_count: 0, attempts: [], bytes: 512 },
}
const target = {
  ...{ tenantSlug: 'acme', url: 'https://hooks.example/?key=1', format: 'hub' as const },
  secrets: ['whsec_new', 'whsec_old'],
}

function attempt(post: () => Promise<PostResponse>, signal = new AbortController().signal) {
  return attemptDelivery({ post }, target, delivery, signal)
}

test.each([
  [200, undefined],
  [204, undefined],
  [299, undefined],
  [301, 'redirect'],
  [304, 'http-other'],
  [308, 'redirect'],
  [400, 'http-4xx'],
  [410, 'gone'],
  [429, 'rate-limited'],
  [500, 'http-5xx'],
  [600, 'http-other'],
])('%i is %s', async (status, code) => {
  const made = await attempt(async () => answer({ status }))
  expect(made.error?.code).toBe(code)
  expect(made).toMatchObject({ url: target.url, duration_ms: 12, response: { status } })
  expect(made.request_headers['x-service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
})

test('time that is asked for counts at 429 and 503 alone', async () => {
  const asked = (status: number) => attempt(async () => answer({ status, headers: { 'retry-after': '100000' } }))
  expect((await asked(429)).retry_after_seconds).toBe(86_400)
  expect((await asked(503)).retry_after_seconds).toBe(86_400)
  expect((await asked(500)).retry_after_seconds).toBeUndefined()
})

test('headers that came more than once are kept, and the first one is obeyed', async () => {
  const headers = { 'retry-after': ['7', '100'], 'content-type': ['text/plain', 'image/png'] }
  const made = await attempt(async () => answer({ status: 503, headers, beginning: Buffer.from('busy') }))
  expect(made.retry_after_seconds).toBe(7)
  expect(made.response).toMatchObject({ headers: { 'retry-after': '7, 100' }, body: 'busy' })
})

test.each([
  ['blocked', 'blocked'],
  ['timeout', 'timeout'],
  ['unreachable', 'unreachable'],
  ['too-large', 'unreachable'],
] as const)('an address that is %s is kept as %s', async (failure, code) => {
  const made = await attempt(() => Promise.reject(new OutboundError(failure, 'does something')))
  expect(made.error).toEqual({ code, detail: 'The address of the receiver does something.' })
  expect(made.response).toBeUndefined()
})

test('what is broken off is no attempt, and neither is a fault of our own', async () => {
  const stop = AbortSignal.abort(new Error('stopped'))
  await expect(attempt(() => Promise.reject(stop.reason), stop)).rejects.toThrow('stopped')
  await expect(attempt(() => Promise.reject(new TypeError('ours')))).rejects.toThrow('ours')
})
