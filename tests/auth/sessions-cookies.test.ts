import Fastify from 'fastify'
import { Cookie } from 'tough-cookie'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clearCookie, readCookie, setLoginCookie, setSessionCookie } from '../../server/http/cookies.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { Browser, cookieNames } from './people.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

/** Every attribute of a cookie, as a jar understands it. */
function attributesOf(line: string) {
  const { key, path, domain, secure, httpOnly, sameSite, maxAge, expires, extensions } = Cookie.parse(line) as Cookie
  return { key, path, domain, secure, httpOnly, sameSite, maxAge, expires, extensions }
}

const common = { domain: null, secure: true, httpOnly: true, expires: 'Infinity', extensions: null }
const strict = { ...common, sameSite: 'strict' }
/** Of the session: up to 8 hours, whole seconds. */
const restOfSession = expect.toSatisfy((seconds: number) => seconds > 28_700 && seconds <= 28_800)

describe('the cookies of signing in', () => {
  test('have these attributes and no others', async () => {
    const browser = new Browser(hub.baseUrl)
    const body = { email: 'kim@acme.example', tenant: 'acme' }
    const answer = await browser.call('POST', '/api/v1/auth/mock-login', { body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect(answer.headers.getSetCookie().map(attributesOf)).toEqual([
      { ...strict, key: 'service_session', path: '/', maxAge: restOfSession },
      { ...strict, key: '__Secure-service_refresh', path: '/api/v1/auth', maxAge: restOfSession },
    ])
    const refreshed = await browser.refresh(answer.body.refresh_token)
    expect(refreshed.headers.getSetCookie().map(attributesOf)).toEqual([
      { ...strict, key: '__Secure-service_refresh', path: '/api/v1/auth', maxAge: restOfSession },
    ])
  })

  test('go where they are for, and nowhere else', async () => {
    const browser = new Browser(hub.baseUrl)
    await browser.call('POST', '/api/v1/auth/mock-login', { body: { email: 'kim@acme.example', tenant: 'acme' } })
    const sentTo = (path: string) =>
      browser.jar
        .getCookiesSync(hub.baseUrl + path)
        .map((cookie) => cookie.key)
        .sort()
    expect(sentTo('/api/v1/auth/token')).toEqual(['__Secure-service_refresh', 'service_session'])
    expect(sentTo('/api/v1/hub/records')).toEqual(['service_session'])
    expect(sentTo('/api/v1/authority')).toEqual(['service_session'])
    expect(browser.jar.getCookiesSync('http://hub.example/api/v1/auth/token')).toEqual([])
    const readable = browser.jar.getCookiesSync(`${hub.baseUrl}/api/v1/auth/token`, { http: false })
    expect(readable).toEqual([])
    const crossSite = { sameSiteContext: 'none' } as const
    expect(browser.jar.getCookiesSync(`${hub.baseUrl}/api/v1/auth/token`, crossSite)).toEqual([])
  })

  test('are cleared under the attributes they were set with', async () => {
    const browser = new Browser(hub.baseUrl)
    await browser.call('POST', '/api/v1/auth/mock-login', { body: { email: 'kim@acme.example', tenant: 'acme' } })
    const answer = await browser.call('POST', '/api/v1/auth/logout')
    expect(answer.headers.getSetCookie().map(attributesOf)).toEqual([
      { ...strict, key: 'service_session', path: '/', maxAge: 0 },
      { ...strict, key: '__Secure-service_refresh', path: '/api/v1/auth', maxAge: 0 },
      { ...common, sameSite: 'lax', key: '__Host-service_login', path: '/', maxAge: 0 },
    ])
    expect(Object.values(cookieNames).map((name) => browser.cookie(name))).toEqual([undefined, undefined, undefined])
  })
})

describe('cookies.ts', () => {
  const app = Fastify()
  app.get('/login', async (_request, reply) => {
    setLoginCookie(reply, 'sealed')
    return {}
  })
  app.get('/twice', async (_request, reply) => {
    clearCookie(reply, 'session')
    reply.header('set-cookie', 'other=1')
    setSessionCookie(reply, { sessionToken: 'a.b.c', expiresAtMs: 5_999 }, 1_000)
    return {}
  })
  app.get('/bad', async (_request, reply) => {
    setLoginCookie(reply, 'a; Domain=example')
    return {}
  })
  app.get('/read', async (request, reply) => ({ value: readCookie(request, reply, 'session') ?? null }))
  afterAll(() => app.close())

  test('gives the login cookie ten minutes, and sends it on the way back from another site', async () => {
    const { headers } = await app.inject('/login')
    expect([headers['set-cookie']].flat().map((line) => attributesOf(String(line)))).toEqual([
      { ...common, sameSite: 'lax', key: '__Host-service_login', path: '/', maxAge: 600 },
    ])
  })

  test('says the last word about a cookie once, and leaves others alone', async () => {
    const { headers } = await app.inject('/twice')
    expect(headers['set-cookie']).toEqual([
      'other=1',
      'service_session=a.b.c; Max-Age=5; Path=/; HttpOnly; Secure; SameSite=Strict',
    ])
  })

  test('sets no value that could become an attribute', async () => {
    const { statusCode, headers } = await app.inject('/bad')
    expect([statusCode, headers['set-cookie']]).toEqual([500, undefined])
  })

  test.each([
    ['service_session=a.b', 'a.b'],
    ['x=1;service_session=a.b;y=2', 'a.b'],
    ['Service_session=a.b; xservice_session=1; service_session2=2', null],
    ['service_session=', null],
    ['service_session', null],
    ['', null],
  ])('reads %j', async (cookie, value) => {
    expect((await app.inject({ url: '/read', headers: { cookie } })).json()).toEqual({ value })
  })
})
