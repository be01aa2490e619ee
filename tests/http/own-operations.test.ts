import { request as httpRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { Type } from 'typebox'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addPageAction, html } from '../../server/http/page.ts'
import { addRoute } from '../../server/http/route.ts'
import { type HttpLab, startHttpLab } from './http-lab.ts'

/** Operations that look at a credential of their own. */
let lab: HttpLab
let handled: number
beforeEach(async () => {
  handled = 0
  lab = await startHttpLab({ config: { trustedProxies: ['127.0.0.1'], environment: 'production' } }, (app) => {
    addRoute(
      app,
      'logOut',
      {
        credentials: ['session', 'bearer'],
        body: Type.Object({ everywhere: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
        bodyOptional: true,
        response: { 200: Type.Object({}) },
      },
      async (request) => {
        handled += 1
        await request.credentialCharges.succeed('ses_1', 'acme')
        return {}
      },
    )
    addPageAction(app, '/press', async ({ body }) => ({
      title: 'Pressed',
      body: html`${Object.keys(body ?? {}).length}`,
    }))
  })
})
afterEach(() => lab.close())

const slugOf = (body: { type: string }) => body.type.split('/').at(-1)
const form = (body: string | Buffer, headers: Record<string, string | undefined> = {}, from = '198.51.100.1') =>
  lab.call('POST', '/api/v1/oauth/token', {
    body,
    headers: {
      authorization: undefined,
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-for': from,
      ...headers,
    },
  })
const right = 'client_id=a&client_secret=right'

test('take 16 KiB, inflated or not, and no more', async () => {
  const padded = `${right}&scope=`
  const fits = padded + 'x'.repeat(16 * 1024 - padded.length)
  expect((await form(fits)).status).toBe(200)
  expect((await form(gzipSync(fits), { 'content-encoding': 'gzip' })).status).toBe(200)
  for (const [body, headers] of [
    [`${fits}x`, {}],
    [gzipSync(`${fits}x`), { 'content-encoding': 'gzip' }],
    [gzipSync('a&'.repeat(500_000)), { 'content-encoding': 'gzip' }],
  ] as const) {
    const { status, body: problem } = await form(body, headers)
    expect([status, slugOf(problem)]).toEqual([413, 'payload-too-large'])
    expect(problem.detail).toContain('16384')
  }
})

test('take a form of 100 fields, and look at no more', async () => {
  expect((await form(`${right}${'&a'.repeat(98)}`)).status).toBe(200)
  const { status, body } = await form(`${right}${'&a'.repeat(99)}`)
  expect([status, body.errors]).toEqual([400, [{ pointer: '', detail: 'must have at most 100 fields' }]])
})

test.each<[string, string | Buffer, Record<string, string>, number]>([
  ['another media type', '{}', { 'content-type': 'application/json' }, 415],
  ['another coding', right, { 'content-encoding': 'br' }, 415],
  ['too much', 'x'.repeat(16 * 1024 + 1), {}, 413],
  ['no form', 'client_id=%00', {}, 400],
  ['no gzip', right, { 'content-encoding': 'gzip' }, 400],
  ['another version', right, { accept: 'application/vnd.service.v2+json' }, 406],
])('count refusals before the handler: %s', async (_name, body, headers, status) => {
  const statuses: number[] = []
  for (let call = 0; call < 102; call += 1) statuses.push((await form(body, headers)).status)
  expect(statuses).toEqual([...Array(100).fill(status), 429, 429])
  const limited = await form(body, headers)
  expect([slugOf(limited.body), limited.headers.get('ratelimit-policy')]).toEqual([
    'rate-limited',
    '"address";q=100;w=60',
  ])
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
  // Whoever has a right credential is let in, and another address is not concerned.
  expect((await form(right)).status).toBe(200)
  expect((await form(body, headers, '198.51.100.2')).status).toBe(status)
})

test('do not count what has no route', async () => {
  for (let call = 0; call < 12; call += 1) {
    expect((await lab.call('GET', '/api/v1/oauth/token')).status).toBe(405)
    expect((await lab.call('POST', '/api/v1/oauth/tokens')).status).toBe(404)
  }
})

test.each(['198.51.100.7', '198.51.100.7:%', '[2001:db8::7]:%', '2001:db8::%'])(
  'count %s as one caller, whatever its port or its last half',
  async (from) => {
    const statuses: number[] = []
    for (let call = 0; call < 101; call += 1) {
      statuses.push((await form('{}', { 'content-type': 'text/plain' }, from.replace('%', `${4000 + call}`))).status)
    }
    expect(statuses).toEqual([...Array(100).fill(415), 429])
  },
)

test('show their credential before anything of the body is looked at', async () => {
  const headers = { authorization: undefined, 'content-type': 'text/plain', 'x-forwarded-for': '198.51.100.8' }
  const call = (more: Record<string, string>, body: string) =>
    lab.call('POST', '/api/v1/auth/logout', { headers: { ...headers, ...more }, body })
  for (const more of [{}, { cookie: 'service_session=' }, { cookie: '__Secure-service_refresh=a' }]) {
    for (const body of ['{bad', 'x'.repeat(20_000), '{"all":true}']) {
      const { status, body: problem } = await call(more, body)
      expect([status, problem.detail]).toEqual([
        401,
        'The request has no session cookie and no access token. Sign in first.',
      ])
    }
  }
  for (const more of [{ cookie: 'service_session=a' }, { authorization: 'Bearer a' }]) {
    const shown = { ...more, 'x-forwarded-for': '198.51.100.9' }
    expect((await call(shown, '{bad')).status).toBe(415)
    expect((await call({ ...shown, 'content-type': 'application/json' }, '{bad')).status).toBe(400)
  }
  expect(handled).toBe(0)
})

test('are open to who sends a body in pieces', async () => {
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const request = httpRequest(`${lab.url}/api/v1/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    request.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject)
    for (const piece of right) request.write(piece)
    request.end()
  })
  expect(status).toBe(200)
})

test('are like the forms of pages, which take 4 KiB', async () => {
  const press = (body: string) =>
    lab.call('POST', '/press', { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
  const fits = 'x=1&y='.padEnd(4096, 'z')
  expect((await press(fits)).text).toMatch(/<main>\s*2\s*<\/main>/)
  const statuses: number[] = []
  for (let call = 0; call < 101; call += 1) statuses.push((await press(`${fits}z`)).status)
  expect(statuses).toEqual([...Array(100).fill(413), 429])
  expect((await press(fits)).status).toBe(200)
})
