import { createHmac, createPublicKey } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, type JWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { read } from './auth-hub.ts'
import { Browser, cookieNames, outcome, type SignedInPerson, signIn } from './people.ts'
import { withUnusedBits } from './signature-forms.ts'

let hub: TestHub
let kim: SignedInPerson
let tokens: { access_token: string; refresh_token: string }
beforeAll(async () => {
  hub = await startHub()
  kim = await signIn(hub, 'acme', { role: 'admin' })
  tokens = (await kim.browser.token()).body
})
afterAll(() => hub.stop())

const refused = [401, 'authentication-failed']
const named = (refresh_token: string) => ({ grant_type: 'refresh_token', refresh_token })

/** A browser that holds the cookies of kim, but for those that are given. */
function withCookies(cookies: Partial<Record<'session' | 'refresh', string>>): Browser {
  const browser = new Browser(hub.baseUrl)
  browser.keep(cookieNames.session, cookies.session ?? kim.session.sessionToken)
  browser.keep(cookieNames.refresh, cookies.refresh ?? kim.browser.cookie(cookieNames.refresh) ?? '')
  return browser
}

describe('a token of one kind in the place of another (attack 5)', () => {
  const kinds = {
    access: () => tokens.access_token,
    refresh: () => tokens.refresh_token,
    session: () => kim.session.sessionToken,
  }

  test('each is good in its own place', async () => {
    expect((await withCookies({}).token()).status).toBe(200)
    expect((await withCookies({}).refresh(tokens.refresh_token)).status).toBe(200)
    expect((await withCookies({}).call('GET', '/api/v1/auth/me', { bearer: tokens.access_token })).status).toBe(200)
  })

  test.each(['access', 'refresh'] as const)('%s as session cookie', async (kind) => {
    expect(outcome(await withCookies({ session: kinds[kind]() }).token())).toEqual(refused)
    expect(outcome(await withCookies({ session: kinds[kind]() }).call('GET', '/api/v1/auth/me'))).toEqual(refused)
  })

  test.each(['access', 'session'] as const)('%s as refresh token', async (kind) => {
    expect(outcome(await withCookies({}).refresh(kinds[kind]()))).toEqual(refused)
  })

  test.each(['refresh', 'session'] as const)('%s as access token', async (kind) => {
    for (const path of ['/api/v1/auth/me', '/api/v1/hub/records', '/api/v1/service-accounts']) {
      const headers = { 'x-service-tenant': 'acme' }
      const answer = await new Browser(hub.baseUrl).call('GET', path, { bearer: kinds[kind](), headers })
      expect(outcome(answer)).toEqual(refused)
    }
  })

  test('the session cookie opens nothing but the operations of signing in', async () => {
    const headers = { 'x-service-tenant': 'acme' }
    expect(outcome(await withCookies({}).call('GET', '/api/v1/hub/records', { headers }))).toEqual(refused)
  })
})

describe('a session token that is made or changed by somebody else', () => {
  const claims = () => decodeJwt(kim.session.sessionToken)
  const header = { alg: 'HS256', typ: 'session+jwt' }
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

  test.each<[string, () => string | Promise<string>]>([
    ['without a signature', () => `${encode({ ...header, alg: 'none' })}.${encode(claims())}.`],
    [
      'under an empty key',
      () => {
        const signed = `${encode(header)}.${encode(claims())}`
        return `${signed}.${createHmac('sha256', '').update(signed).digest('base64url')}`
      },
    ],
    [
      'of another person, with the old signature',
      () => {
        const [first, , last] = kim.session.sessionToken.split('.')
        return `${first}.${encode({ ...claims(), sub: 'usr_somebodyelse' })}.${last}`
      },
    ],
    [
      'under the public key of access tokens',
      async () => {
        const { keys } = (await (await fetch(`${hub.baseUrl}/.well-known/jwks.json`)).json()) as { keys: JWK[] }
        const publicKey = createPublicKey({ key: keys[0] as JWK, format: 'jwk' })
        return new SignJWT(claims())
          .setProtectedHeader(header)
          .sign(Buffer.from(publicKey.export({ type: 'spki', format: 'pem' })))
      },
    ],
    [
      'with its key along',
      () => {
        const secret = Buffer.alloc(32, 7)
        const own = { ...header, jwk: { kty: 'oct', k: secret.toString('base64url') } }
        const signed = `${encode(own)}.${encode(claims())}`
        return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
      },
    ],
    ['with unused bits of its signature set', () => withUnusedBits(kim.session.sessionToken)],
    ['with more text than any has', () => `${kim.session.sessionToken}${'A'.repeat(5000)}`],
  ])('%s', async (_name, make) => {
    const cookie = `${cookieNames.session}=${await make()}`
    const answer = await new Browser(hub.baseUrl).token({}, { cookie })
    expect(outcome(answer)).toEqual(refused)
    expect(answer.headers.getSetCookie()[0]).toMatch(/^service_session=; Max-Age=0/)
  })

  test('its header says its kind', () => {
    expect(decodeProtectedHeader(kim.session.sessionToken)).toEqual(header)
    expect(claims()).toMatchObject({ sub: kim.user.userId, sid: kim.session.sessionId, tenant: 'acme' })
    expect(Number(claims().exp) - Number(claims().iat)).toBe(8 * 3600)
  })
})

describe('a cookie that is there twice (attack 16)', () => {
  const send = async (path: string, cookies: string[], init: RequestInit = {}) => {
    const headers = { 'content-type': 'application/json', cookie: cookies.join('; ') }
    return read(await fetch(hub.baseUrl + path, { method: 'POST', headers, ...init }))
  }
  const session = () => `${cookieNames.session}=${kim.session.sessionToken}`

  test.each<[string, () => string[]]>([
    ['the same value', () => [session(), session()]],
    ['another value after it', () => [session(), `${cookieNames.session}=planted`]],
    ['another value before it', () => [`${cookieNames.session}=planted`, session()]],
    ['an empty value', () => [`${cookieNames.session}=`, session()]],
  ])('service_session with %s is refused and cleared', async (_name, cookies) => {
    for (const path of ['/api/v1/auth/token', '/api/v1/auth/logout']) {
      const answer = await send(path, cookies())
      expect(outcome(answer)).toEqual(refused)
      expect(answer.headers.getSetCookie()).toContain(
        'service_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict',
      )
    }
    expect((await withCookies({}).token()).status).toBe(200)
  })

  test('is refused where a session is only looked at, too', async () => {
    const headers = { cookie: `${session()}; ${session()}` }
    for (const path of ['/api/v1/auth/me', '/api/v1/auth/sessions']) {
      expect(outcome(await read(await fetch(hub.baseUrl + path, { headers })))).toEqual(refused)
    }
  })

  test('the refresh cookie is refused and cleared, however the call goes on', async () => {
    const refresh = `${cookieNames.refresh}=${kim.browser.cookie(cookieNames.refresh)}`
    const current = (await kim.browser.token()).body.refresh_token
    for (const body of [named(current), {}]) {
      const answer = await send('/api/v1/auth/token', [session(), refresh, refresh], { body: JSON.stringify(body) })
      expect(outcome(answer)).toEqual(refused)
      expect(answer.headers.getSetCookie()).toEqual([
        '__Secure-service_refresh=; Max-Age=0; Path=/api/v1/auth; HttpOnly; Secure; SameSite=Strict',
      ])
    }
    expect((await kim.browser.refresh(current)).status).toBe(200)
  })
})

describe('the other tenant', () => {
  test('has sessions of its own under the same address, which see nothing of these', async () => {
    const email = 'both@example.com'
    const here = await signIn(hub, 'acme', { email, role: 'admin' })
    const there = await signIn(hub, 'globex', { email, role: 'admin' })
    expect(here.user.userId).not.toBe(there.user.userId)
    const token = (await there.browser.token()).body.access_token
    const records = (tenant: string) =>
      there.browser.call('GET', '/api/v1/hub/records', { bearer: token, headers: { 'x-service-tenant': tenant } })
    expect((await records('globex')).status).toBe(200)
    expect(outcome(await records('acme'))).toEqual([403, 'invalid-tenant'])
    const { body } = await there.browser.call('GET', '/api/v1/auth/sessions')
    expect(body.items.map((item: { session_id: string }) => item.session_id)).toEqual([there.session.sessionId])
    await there.browser.call('POST', '/api/v1/auth/logout', { body: { everywhere: true } })
    expect((await here.browser.token()).status).toBe(200)
  })

  test('a token that names it with the signature of this one is refused', async () => {
    const [first, , last] = kim.session.sessionToken.split('.')
    const claims = { ...decodeJwt(kim.session.sessionToken), tenant: 'globex' }
    const forged = `${first}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${last}`
    expect(outcome(await withCookies({ session: forged }).token())).toEqual(refused)
  })
})

test('a session of mock login is worth nothing in production, as in a database taken over from staging', async () => {
  const settings = {
    HUB_ENV: 'production',
    HUB_BASE_URL: 'https://hub.example.com',
    HUB_SMTP_URL: 'smtp://127.0.0.1:1',
    HUB_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  const production = await startHub({ settings })
  onTestFinished(() => production.stop())
  const mock = await signIn(production, 'acme', { method: 'mock' })
  const real = await signIn(production, 'acme', { method: 'magic_link' })
  expect(outcome(await mock.browser.token())).toEqual(refused)
  expect(outcome(await mock.browser.call('GET', '/api/v1/auth/me'))).toEqual(refused)
  expect((await real.browser.token()).status).toBe(200)
})

test('no token and no cookie is in the log', async () => {
  const { browser, session } = await signIn(hub, 'acme', { email: 'secretive@acme.example' })
  const { body } = await browser.token()
  const cookie = String(browser.cookie(cookieNames.refresh))
  await browser.refresh(body.refresh_token)
  await browser.token({}, { cookie: `${cookieNames.session}=${session.sessionToken}x` })
  await browser.call('POST', '/api/v1/auth/logout')
  const log = hub.logLines.join('\n')
  expect(log).toContain('/api/v1/auth/logout')
  const secrets = [session.sessionToken, body.access_token, body.refresh_token].map((token) => token.split('.')[2])
  for (const secret of [...secrets, cookie, 'secretive@acme.example']) expect(log).not.toContain(secret)
})
