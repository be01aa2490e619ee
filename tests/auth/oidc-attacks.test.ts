import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLoginTransactions } from '../../server/modules/auth/sign-in/oidc-transaction.ts'
import { callbackPath, loginPath, type OidcLab, type Page, startOidcLab } from './oidc-lab.ts'

let lab: OidcLab
beforeAll(async () => {
  lab = await startOidcLab()
  await lab.connect('acme')
  await lab.connect('globex')
})
afterAll(() => lab.close())

const cleared = '__Host-service_login=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax'

/** 400, no session, and the login is over. */
function expectRefused(answer: Page, pointer: string): void {
  expect([answer.status, answer.body.type]).toEqual([400, `${lab.hub.baseUrl}/errors/validation-failed`])
  expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([pointer])
  expect(answer.headers.getSetCookie()).toEqual([cleared])
}

const sessionsOpened = async () => (await lab.events('acme', 'auth.login')).length

describe('attack 17: where a login leads', () => {
  test.each([
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    '/..//evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    '/%2e%2e//evil.example',
    'https://evil.example/',
    'https:evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'evil.example',
    '@evil.example',
    '',
    '/\u0001/evil.example',
    '/\u0085/evil.example',
  ])('%j is the default page', async (returnTo) => {
    const landed = await lab.browser().signIn('acme', 'kim', returnTo)
    expect([landed.status, landed.location]).toEqual([303, '/'])
  })

  test.each([
    ['/', '/'],
    ['/session', '/session'],
    ['/records?type=output&x=1#top', '/records?type=output&x=1#top'],
    ['/a//b', '/a//b'],
    ['/@evil.example', '/@evil.example'],
    ['/x?next=//evil.example', '/x?next=//evil.example'],
    ['/grün', '/gr%C3%BCn'],
  ])('%j is a place of our own', async (returnTo, location) => {
    const landed = await lab.browser().signIn('acme', 'kim', returnTo)
    expect([landed.status, landed.location]).toEqual([303, location])
    expect(new URL(location, lab.hub.baseUrl).origin).toBe(lab.hub.baseUrl)
  })
})

test('2,000 characters are a place, one more is the default page', async () => {
  const longest = `/${'x'.repeat(1999)}`
  expect((await lab.browser().signIn('acme', 'kim', longest)).location).toBe(longest)
  expect((await lab.browser().signIn('acme', 'kim', `${longest}x`)).location).toBe('/')
})

describe('attack 18: a callback that answers no login of this browser', () => {
  test('without the cookie of its login', async () => {
    const before = await sessionsOpened()
    const callback = await lab.browser().toCallback('acme', 'kim')
    expectRefused(await lab.browser().go(callback), '/query/state')
    expect(await sessionsOpened()).toBe(before)
  })

  test('with the cookie of another login: nobody is signed in as somebody else', async () => {
    const [victim, attacker] = [lab.browser(), lab.browser()]
    await victim.toCallback('acme', 'kim')
    const planted = await attacker.toCallback('acme', 'kim')
    expectRefused(await victim.go(planted), '/query/state')
    expect(await victim.cookies()).toEqual({})
  })

  test('a second time, with the same cookie', async () => {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    const copy = (await browser.cookies())['__Host-service_login'] ?? ''
    expect((await browser.go(callback)).status).toBe(303)
    const before = await sessionsOpened()
    const replayed = await lab.browser().go(callback, { cookie: `__Host-service_login=${copy}` })
    expectRefused(replayed, '/query/state')
    expect(replayed.body.detail).toMatch(/already used/)
    expect(await sessionsOpened()).toBe(before)
  })

  test('twenty times at once: one session', async () => {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    const before = await sessionsOpened()
    const cookie = `__Host-service_login=${(await browser.cookies())['__Host-service_login']}`
    const answers = await Promise.all(Array.from({ length: 20 }, () => lab.browser().go(callback, { cookie })))
    expect(answers.filter((answer) => answer.status === 303)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 400)).toHaveLength(19)
    expect(await sessionsOpened()).toBe(before + 1)
  })

  test('a login that failed is over as well', async () => {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    const cookie = `__Host-service_login=${(await browser.cookies())['__Host-service_login']}`
    const wrong = new URL(callback)
    wrong.searchParams.set('code', 'guessed')
    expectRefused(await browser.go(wrong), '/query/code')
    expectRefused(await lab.browser().go(callback, { cookie }), '/query/state')
  })

  test('with a cookie that was changed, or made up, or is not one', async () => {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    const value = (await browser.cookies())['__Host-service_login'] ?? ''
    const flipped = `${value.slice(0, -3)}${value.at(-3) === 'A' ? 'B' : 'A'}${value.slice(-2)}`
    for (const bad of [flipped, value.slice(0, 100), 'x', 'AQ', Buffer.from('{}').toString('base64url'), ''])
      expectRefused(await lab.browser().go(callback, { cookie: `__Host-service_login=${bad}` }), '/query/state')
  })

  test('with a cookie that has expired', async () => {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    const value = (await browser.cookies())['__Host-service_login'] ?? ''
    const transactions = createLoginTransactions(lab.hub.test.masterKey)
    const login = transactions.decrypt(value)
    if (!login) throw new Error('the cookie does not open')
    expect(login.expiresAtMs - Date.now()).toBeGreaterThan(0)
    expect(login.expiresAtMs - Date.now()).toBeLessThanOrEqual(10 * 60_000)
    const expired = transactions.encrypt({ ...login, expiresAtMs: Date.now() - 1 })
    expectRefused(await lab.browser().go(callback, { cookie: `__Host-service_login=${expired}` }), '/query/state')
    const fresh = transactions.encrypt({ ...login, expiresAtMs: Date.now() + 60_000 })
    expect((await lab.browser().go(callback, { cookie: `__Host-service_login=${fresh}` })).status).toBe(303)
  })

  test('with its cookie twice', async () => {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    const value = (await browser.cookies())['__Host-service_login']
    const cookie = `__Host-service_login=${value}; __Host-service_login=${value}`
    const answer = await lab.browser().go(callback, { cookie })
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([401, [cleared]])
  })

  test.each(['state', 'code'])('without %s', async (name) => {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    callback.searchParams.delete(name)
    expectRefused(await browser.go(callback), `/query/${name}`)
  })

  test.each(['state', 'code', 'iss', 'error'])('with %s twice', async (name) => {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    callback.searchParams.append(name, callback.searchParams.get(name) ?? 'x')
    callback.searchParams.append(name, 'x')
    const refused = await browser.go(callback)
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, `/query/${name}`])
    expect(refused.headers.getSetCookie().filter((line) => line.startsWith('service_session='))).toEqual([])
  })

  test('from another provider than the login was begun at (RFC 9207)', async () => {
    const browser = lab.browser()
    const mixedUp = await browser.toCallback('acme', 'kim')
    mixedUp.searchParams.set('iss', 'https://evil.example')
    lab.provider.requests.length = 0
    expectRefused(await browser.go(mixedUp), '/query/iss')

    const silent = await browser.toCallback('acme', 'kim')
    silent.searchParams.delete('iss')
    expectRefused(await browser.go(silent), '/query/iss')
    // The code was not shown to anyone.
    expect(lab.provider.requests).not.toContain('POST /token')
  })

  test('with a code of another login of the same person', async () => {
    const [first, second] = [lab.browser(), lab.browser()]
    const stolen = await first.toCallback('acme', 'kim')
    const callback = await second.toCallback('acme', 'kim')
    callback.searchParams.set('code', stolen.searchParams.get('code') ?? '')
    expectRefused(await second.go(callback), '/query/code')
  })

  test('a login of one tenant opens a session of no other', async () => {
    const browser = lab.browser()
    const callback = await browser.toCallback('globex', 'kim')
    const before = await sessionsOpened()
    expect((await browser.go(callback)).status).toBe(303)
    expect(await sessionsOpened()).toBe(before)
  })
})

test('what was spent is forgotten once no cookie can bring it back', async () => {
  const { database } = lab.hub.test
  const chore = lab.hub.modules.auth.chores.find(({ name }) => name === 'delete expired logins')
  const count = () =>
    database.withTenant('acme', async (tx) => {
      const { rows } = await tx.client.query('select 1 from hub.spent_logins where tenant_id = $1', [tx.tenantId])
      return rows.length
    })
  await lab.browser().signIn('acme', 'kim')
  const before = await count()
  expect(before).toBeGreaterThan(0)
  expect(await database.withTenant('acme', async (tx) => chore?.run(tx))).toBe(false)
  expect(await count()).toBe(before)
  const superuser = await lab.hub.superuserClient()
  await superuser.query(`update hub.spent_logins set spent_at = spent_at - interval '21 minutes'`)
  await database.withTenant('acme', async (tx) => chore?.run(tx))
  expect(await count()).toBe(0)
})

test('errors are pages for browsers, with the same status, and problem documents for programs', async () => {
  const browsers = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const page = await lab.browser().go(`${callbackPath}?code=x&state=y`, { accept: browsers })
  expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
  expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
  expect(page.headers.get('cache-control')).toBe('no-store')
  expect(page.headers.getSetCookie()).toEqual([cleared])
  expect(page.text).toContain(page.headers.get('x-service-request-id') ?? 'no request id')
  expect(page.text).toContain('Start the sign-in again')
  const unknown = await lab.browser().go(`${loginPath}?tenant=%3Cb%3E`, { accept: browsers })
  expect([unknown.status, unknown.text.includes('<b>')]).toEqual([403, false])
  for (const accept of ['*/*', 'application/json', 'application/problem+json, text/html;q=0.5', 'text/html;q=0']) {
    const problem = await lab.browser().go(`${callbackPath}?code=x&state=y`, { accept })
    expect([problem.status, problem.headers.get('content-type')]).toEqual([
      400,
      expect.stringMatching(/^application\/problem\+json/),
    ])
  }
})
