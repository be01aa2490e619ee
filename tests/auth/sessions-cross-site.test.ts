import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OperationId, operations } from '../../contract/operations.ts'
import { createHttpServer } from '../../server/http/http-server.ts'
import { addPage, addPageAction, html } from '../../server/http/page.ts'
import { MemoryRateLimiter } from '../../server/http/rate-limits/rate-limiter.ts'
import { createLogger } from '../../server/http/request-log.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { operator } from './auth-lab.ts'
import { cookieNames, outcome, type SignedInPerson, signIn } from './people.ts'

const ui = 'http://ui.localhost:5173'
const own = 'http://customer.localhost:8099'

let hub: TestHub
let kim: SignedInPerson
beforeAll(async () => {
  hub = await startHub({ settings: { HUB_BROWSER_URL: ui } })
  kim = await signIn(hub, 'acme')
  const tenant = { slug: 'customer', mode: 'C' as const, adminEmail: 'admin@customer.example', baseUrl: own }
  await hub.modules.tenants.administration.create(tenant, operator)
})
afterAll(() => hub.stop())

interface Sent {
  host?: string
  cookie?: string
  headers?: Record<string, string>
  method?: string
  path?: string
}

/** A request that names any host; `fetch` always names the one it connects to, and sets Sec-Fetch-Mode. */
function ask({ host, cookie = `${cookieNames.session}=${kim.session.sessionToken}`, ...rest }: Sent) {
  const { method = 'POST', path = '/api/v1/auth/token', headers = {} } = rest
  const { port, host: usual } = new URL(hub.baseUrl)
  return new Promise<{ status: number; body: { type?: string }; cookies: string[] }>((resolve, reject) => {
    const sent = httpRequest({ port, path, method, headers: { host: host ?? usual, cookie, ...headers } }, (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      answer.on('end', () => {
        const cookies = answer.headers['set-cookie'] ?? []
        resolve({ status: answer.statusCode ?? 0, body: text ? JSON.parse(text) : {}, cookies })
      })
    })
    sent.on('error', reject).end()
  })
}

const fine = [200, 'fine']
const foreign = [403, 'cross-site-request']
const here = () => hub.baseUrl

describe('a request with a session cookie', () => {
  test.each<[string, () => Record<string, string>, unknown]>([
    ['of a program, which says nothing', () => ({}), fine],
    ['of a page of this host', () => ({ 'sec-fetch-site': 'same-origin', origin: here() }), fine],
    ['of an older browser, by Origin alone', () => ({ origin: here() }), fine],
    ['of the address bar', () => ({ 'sec-fetch-site': 'none' }), fine],
    ['of the web UI on another host of the site', () => ({ 'sec-fetch-site': 'same-site', origin: ui }), fine],
    ['of the web UI, by Origin alone', () => ({ origin: ui }), fine],
    [
      'of another page of the site',
      () => ({ 'sec-fetch-site': 'same-site', origin: 'http://blog.localhost' }),
      foreign,
    ],
    ['of the site, from something that names no page', () => ({ 'sec-fetch-site': 'same-site' }), fine],
    ['of another site', () => ({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }), foreign],
    ['of another site that hides which', () => ({ 'sec-fetch-site': 'cross-site' }), foreign],
    ['of another site that claims to be the web UI', () => ({ 'sec-fetch-site': 'cross-site', origin: ui }), foreign],
    ['of another site, by Origin alone', () => ({ origin: 'https://evil.example' }), foreign],
    ['of a frame without an origin', () => ({ 'sec-fetch-site': 'cross-site', origin: 'null' }), foreign],
    ['of a sandboxed document', () => ({ origin: 'null' }), foreign],
    ['with another scheme', () => ({ origin: here().replace('http:', 'https:') }), foreign],
    ['with another port', () => ({ origin: 'http://127.0.0.1:1' }), foreign],
    ['with a longer name', () => ({ origin: `${here()}.evil.example` }), foreign],
    ['with a user name', () => ({ origin: here().replace('//', '//x@') }), foreign],
    ['with an empty Origin', () => ({ origin: '' }), foreign],
    ['with an unknown word', () => ({ 'sec-fetch-site': 'same-planet' }), foreign],
    ['with two words', () => ({ 'sec-fetch-site': 'same-origin, cross-site' }), foreign],
  ])('%s', async (_name, headers, expected) => {
    const answer = await ask({ headers: headers() })
    expect(outcome(answer)).toEqual(expected)
    expect(answer.cookies).toHaveLength(expected === fine ? 1 : 0)
  })

  test('is refused before its credential is looked at', async () => {
    const answer = await ask({ cookie: 'service_session=nonsense', headers: { origin: 'https://evil.example' } })
    expect(outcome(answer)).toEqual(foreign)
  })
})

test('every operation that acts with cookies refuses it, and so does that of agents', async () => {
  const guarded = (Object.keys(operations) as OperationId[]).filter((id) => 'sameSiteOnly' in operations[id])
  expect(guarded).toEqual(
    expect.arrayContaining([
      ...['issueUserToken', 'logOut', 'endSession', 'requestMagicLink', 'mockLogIn', 'decideAuthorization', 'callMcp'],
    ]),
  )
  for (const id of guarded) {
    const { method, path } = operations[id]
    const answer = await ask({
      method,
      path: path.replace('{session_id}', kim.session.sessionId),
      headers: { 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' },
    })
    expect(outcome(answer), id).toEqual(foreign)
  }
  expect(outcome(await ask({}))).toEqual(fine)
})

describe('at a tenant’s own address', () => {
  const host = new URL(own).host
  const cookieOf = (person: SignedInPerson) => `${cookieNames.session}=${person.session.sessionToken}`

  test('its own sessions work, from its own pages', async () => {
    const customer = await signIn(hub, 'customer')
    for (const headers of [{}, { origin: own, 'sec-fetch-site': 'same-origin' }]) {
      expect(outcome(await ask({ host, cookie: cookieOf(customer), headers }))).toEqual(fine)
    }
    const elsewhere = { host, cookie: cookieOf(customer), headers: { origin: here() } }
    expect(outcome(await ask(elsewhere))).toEqual(foreign)
  })

  test('no session of another tenant does, by cookie or by token', async () => {
    expect(outcome(await ask({ host }))).toEqual([401, 'authentication-failed'])
    const { body } = await kim.browser.token()
    const headers = { authorization: `Bearer ${body.access_token}` }
    const me = { host, cookie: '', method: 'GET', path: '/api/v1/auth/me' }
    expect(outcome(await ask({ ...me, headers }))).toEqual([401, 'authentication-failed'])
    const account = { authorization: `Bearer ${await hub.token('acme')}` }
    expect(outcome(await ask({ ...me, headers: account }))).toEqual([401, 'authentication-failed'])
    expect(outcome(await ask({}))).toEqual(fine)
  })
})

describe('the form of a page', () => {
  const app = createHttpServer({
    config: { environment: 'development', trustedProxies: [], limitFactor: 1 },
    baseUrl: () => 'http://localhost',
    logger: createLogger({ logLevel: 'error', environment: 'production' }, { write: () => undefined }),
    access: {
      authenticate: async () => {
        throw new Error('pages take no token')
      },
      findTenant: async () => undefined,
      tenantAt: async () => undefined,
      refused: () => undefined,
    },
    limiter: new MemoryRateLimiter(),
    limitsOf: async () => ({}),
  })
  addPage(app, '/form', async () => ({ title: 'Form', body: html`<form method="post"></form>`, hasForm: true }))
  addPage(app, '/plain', async () => ({ title: 'Plain', body: html`<p>No form</p>` }))
  addPageAction(app, '/form', async (_request, reply) => reply.redirect('/plain', 303))
  afterAll(() => app.close())

  const post = (headers: Record<string, string>, payload = '') =>
    app.inject({ method: 'POST', url: '/form', headers: { host: 'localhost', ...headers }, payload })

  test('may be sent to this host and no other, and tells where it is from', async () => {
    const { headers } = await app.inject({ url: '/form', headers: { host: 'localhost' } })
    expect(headers['content-security-policy']).toContain("form-action 'self'")
    expect(headers['referrer-policy']).toBe('strict-origin')
    const plain = await app.inject({ url: '/plain', headers: { host: 'localhost' } })
    expect(plain.headers['content-security-policy']).toContain("form-action 'none'")
    expect(plain.headers['referrer-policy']).toBe('no-referrer')
  })

  test('is taken as a form, as JSON and without a body', async () => {
    for (const [type, payload] of [
      ['application/x-www-form-urlencoded', 'a=1&b=2'],
      ['application/json', '{}'],
      ['application/json', ''],
    ] as const) {
      const sent = await post({ 'content-type': type, origin: 'http://localhost' }, payload)
      expect([sent.statusCode, sent.headers.location]).toEqual([303, '/plain'])
    }
    const empty = await post({ origin: 'http://localhost', 'sec-fetch-site': 'same-origin' })
    expect([empty.statusCode, empty.headers.location]).toEqual([303, '/plain'])
  })

  test('is refused from another site, as something else, and when it is too long', async () => {
    expect((await post({ origin: 'https://evil.example' })).statusCode).toBe(403)
    expect((await post({ 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403)
    expect((await post({ 'content-type': 'text/plain' }, '{}')).statusCode).toBe(415)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await post(form, `a=${'x'.repeat(70_000)}`)).statusCode).toBe(413)
  })
})
