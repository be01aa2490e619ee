import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roles } from '../../contract/roles.ts'
import { read } from '../auth/auth-hub.ts'
import { Browser, cookieNames, outcome, type SignedInPerson, signIn } from '../auth/people.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let kim: SignedInPerson
beforeAll(async () => {
  hub = await startHub()
  kim = await signIn(hub, 'acme', { role: 'analyst' })
})
afterAll(() => hub.stop())

const path = '/api/v1/auth/token'

describe('the session cookie', () => {
  test.each([
    ['no body', undefined],
    ['an empty object', {}],
  ])('with %s gets a token', async (_name, body) => {
    const answer = await kim.browser.token(body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(Object.keys(answer.body).sort()).toEqual(
      ['access_token', 'expires_in', 'refresh_expires_in', 'refresh_token', 'token_type'].sort(),
    )
    expect(answer.body).toMatchObject({ token_type: 'Bearer', expires_in: 300 })
    expect(answer.body.refresh_expires_in).toBeGreaterThan(8 * 3600 - 120)
    expect(answer.body.refresh_expires_in).toBeLessThanOrEqual(8 * 3600)
  })

  test('gives an access token of the person, with the scopes of the role', async () => {
    const { body } = await kim.browser.token()
    expect(decodeProtectedHeader(body.access_token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' })
    const claims = decodeJwt(body.access_token)
    expect(claims).toMatchObject({
      sub: kim.user.userId,
      client_id: 'hub-web',
      tenant: 'acme',
      sid: kim.session.sessionId,
      scope: roles.analyst.join(' '),
    })
    const records = await kim.browser.call('GET', '/api/v1/hub/records', {
      bearer: body.access_token,
      headers: { 'x-service-tenant': 'acme' },
    })
    expect(records.status).toBe(200)
    const denied = await kim.browser.call('GET', '/api/v1/roster/users', {
      bearer: body.access_token,
      headers: { 'x-service-tenant': 'acme' },
    })
    expect(outcome(denied)).toEqual([403, 'insufficient-scope'])
  })

  test('is of no use to the other tenant', async () => {
    const { body } = await kim.browser.token()
    const answer = await kim.browser.call('GET', '/api/v1/hub/records', {
      bearer: body.access_token,
      headers: { 'x-service-tenant': 'globex' },
    })
    expect(outcome(answer)).toEqual([403, 'invalid-tenant'])
  })

  test('and a tenant header that names the tenant of the session gets a token', async () => {
    expect((await kim.browser.token({}, { 'x-service-tenant': 'acme' })).status).toBe(200)
  })

  test.each(['globex', 'nowhere'])('and a tenant header of %s is refused', async (tenant) => {
    const answer = await kim.browser.token({}, { 'x-service-tenant': tenant })
    expect(outcome(answer)).toEqual([403, 'invalid-tenant'])
    expect(answer.body.tenant_slug).toBe(tenant)
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  test.each(['without an Origin', 'with its own Origin', 'with the Origin of the Hub'])(
    'and a page of the same site, %s, is refused where HUB_BROWSER_URL names no other host',
    async (which) => {
      const origins: Record<string, string> = {
        'with its own Origin': 'http://blog.localhost',
        'with the Origin of the Hub': hub.baseUrl,
      }
      const origin = origins[which]
      const answer = await kim.browser.token({}, { 'sec-fetch-site': 'same-site', ...(origin && { origin }) })
      expect(outcome(answer)).toEqual([403, 'cross-site-request'])
      expect(answer.headers.getSetCookie()).toEqual([])
      expect((await kim.browser.token({}, { 'sec-fetch-site': 'same-origin', origin: hub.baseUrl })).status).toBe(200)
    },
  )

  test('outlives none of its owner: who is deactivated gets no token, and the cookies are cleared', async () => {
    const { browser, user } = await signIn(hub, 'acme')
    expect((await browser.token()).status).toBe(200)
    const gone = await hub.call('acme', 'POST', `/api/v1/roster/users/${user.userId}:deactivate`)
    expect(gone.status, gone.text).toBeLessThan(300)
    expect(outcome(await browser.token())).toEqual([401, 'authentication-failed'])
    expect([browser.cookie(cookieNames.session), browser.cookie(cookieNames.refresh)]).toEqual([undefined, undefined])
  })
})

describe('without a valid session', () => {
  test('there is no token', async () => {
    expect(outcome(await new Browser(hub.baseUrl).token())).toEqual([401, 'authentication-failed'])
  })

  test.each(['nonsense', 'a.b.c', ''])('such as %j, cookies are cleared', async (value) => {
    const answer = await read(
      await fetch(hub.baseUrl + path, { method: 'POST', headers: { cookie: `${cookieNames.session}=${value}` } }),
    )
    expect(outcome(answer)).toEqual([401, 'authentication-failed'])
    const cleared = answer.headers.getSetCookie()
    expect(cleared).toHaveLength(2)
    for (const line of cleared) expect(line).toMatch(/=; Max-Age=0; /)
  })

  test('a service account gets none either', async () => {
    const answer = await new Browser(hub.baseUrl).call('POST', path, { bearer: await hub.token('acme') })
    expect(outcome(answer)).toEqual([401, 'authentication-failed'])
  })
})

describe('a refresh token', () => {
  test('with its cookie gives the next tokens', async () => {
    const { body: first } = await kim.browser.token()
    const { status, body: second } = await kim.browser.refresh(first.refresh_token)
    expect(status).toBe(200)
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect(decodeJwt(second.access_token)).toMatchObject({ sub: kim.user.userId, sid: kim.session.sessionId })
    expect((await kim.browser.refresh(second.refresh_token)).status).toBe(200)
  })

  test('needs no session cookie', async () => {
    const { browser } = await signIn(hub, 'acme')
    const { body } = await browser.token()
    browser.forget(cookieNames.session)
    expect((await browser.refresh(body.refresh_token)).status).toBe(200)
  })

  test('without its cookie is worth nothing', async () => {
    const { browser } = await signIn(hub, 'acme')
    const { body } = await browser.token()
    browser.forget(cookieNames.refresh)
    expect(outcome(await browser.refresh(body.refresh_token))).toEqual([401, 'authentication-failed'])
    expect((await browser.token()).status).toBe(200)
  })

  test('with the cookie of another session is worth nothing, and that session goes on', async () => {
    const lee = await signIn(hub, 'acme')
    const lees = (await lee.browser.token()).body
    const { body } = await kim.browser.token()
    expect(outcome(await lee.browser.refresh(body.refresh_token))).toEqual([401, 'authentication-failed'])
    expect((await lee.browser.refresh(lees.refresh_token)).status).toBe(200)
    expect((await kim.browser.refresh(body.refresh_token)).status).toBe(200)
  })

  test('under another tenant’s name is refused, and is good afterwards', async () => {
    const { body } = await kim.browser.token()
    const named = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
    expect(outcome(await kim.browser.token(named, { 'x-service-tenant': 'globex' }))).toEqual([403, 'invalid-tenant'])
    expect((await kim.browser.refresh(body.refresh_token)).status).toBe(200)
  })
})

test.each([
  [{ grant_type: 'refresh_token' }, ['/refresh_token']],
  [{ refresh_token: 'x' }, ['/grant_type']],
  [{ grant_type: 'password', refresh_token: 'x' }, ['/grant_type']],
  [{ grant_type: 'refresh_token', refresh_token: '' }, ['/refresh_token']],
  [{ grant_type: 'refresh_token', refresh_token: 7 }, ['/refresh_token']],
  [{ grant_type: 'refresh_token', refresh_token: 'x'.repeat(5000) }, ['/refresh_token']],
  [{ tenant: 'acme', scope: 'hub:read' }, ['/scope', '/tenant']],
  [[], ['']],
])('the body %j is refused', async (body, pointers) => {
  const answer = await kim.browser.token(body)
  expect(outcome(answer)).toEqual([400, 'validation-failed'])
  expect(answer.body.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual(pointers)
})

test('a query is refused', async () => {
  expect(outcome(await kim.browser.call('POST', `${path}?tenant=acme`))).toEqual([400, 'validation-failed'])
})

test('without any cookie nothing else of the call is looked at', async () => {
  for (const body of ['{bad', '{"grant_type":1}', '']) {
    const headers = { 'content-type': 'application/json' }
    const answer = await read(await fetch(hub.baseUrl + path, { method: 'POST', headers, body }))
    expect(outcome(answer)).toEqual([401, 'authentication-failed'])
  }
})
