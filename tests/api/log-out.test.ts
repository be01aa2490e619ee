import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventsOf } from '../auth/auth-lab.ts'
import { Browser, cookieNames, outcome, signIn } from '../auth/people.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const path = '/api/v1/auth/logout'
const records = (browser: Browser, bearer: string) =>
  browser.call('GET', '/api/v1/hub/records', { bearer, headers: { 'x-service-tenant': 'acme' } })
const cookiesOf = (browser: Browser) => Object.values(cookieNames).map((name) => browser.cookie(name))

async function logouts(userId: string) {
  const events = await eventsOf(hub.test.database, 'acme')
  return events.filter((each) => each.event_kind === 'auth.logout' && each.subject === `user:${userId}`)
}

describe('by the session cookie', () => {
  test.each([
    ['no body', undefined],
    ['an empty object', {}],
    ['everywhere false', { everywhere: false }],
  ])('with %s ends the session, its tokens and its cookies', async (_name, body) => {
    const { browser, user, session } = await signIn(hub, 'acme', { role: 'admin' })
    const { body: tokens } = await browser.token()
    expect((await records(browser, tokens.access_token)).status).toBe(200)
    const answer = await browser.call('POST', path, { body })
    expect([answer.status, answer.body]).toEqual([204, ''])
    expect(cookiesOf(browser)).toEqual([undefined, undefined, undefined])
    expect(answer.headers.getSetCookie()).toHaveLength(3)
    expect(outcome(await records(browser, tokens.access_token))).toEqual([401, 'authentication-failed'])
    browser.keep(cookieNames.session, session.sessionToken)
    expect(outcome(await browser.token())).toEqual([401, 'authentication-failed'])
    expect(await logouts(user.userId)).toMatchObject([
      { details: { session_id: session.sessionId, everywhere: false, actor: user.userId, address: '127.0.0.1' } },
    ])
  })

  test('leaves the other sessions of the person, and everywhere ends them too', async () => {
    const email = 'two-devices@acme.example'
    const [phone, laptop, desk] = await Promise.all(
      ['phone', 'laptop', 'desk'].map(async () => (await signIn(hub, 'acme', { email, role: 'analyst' })).browser),
    )
    if (!phone || !laptop || !desk) throw new Error('not signed in')
    const stranger = await signIn(hub, 'acme')
    expect((await phone.call('POST', path)).status).toBe(204)
    const { body } = await laptop.token()
    expect((await laptop.call('POST', path, { body: { everywhere: true } })).status).toBe(204)
    expect((await records(laptop, body.access_token)).status).toBe(401)
    expect((await desk.token()).status).toBe(401)
    expect((await stranger.browser.token()).status).toBe(200)
  })
})

describe('by an access token', () => {
  test('ends its session', async () => {
    const { browser } = await signIn(hub, 'acme')
    const { body } = await browser.token()
    const program = new Browser(hub.baseUrl)
    expect((await program.call('POST', path, { bearer: body.access_token })).status).toBe(204)
    expect((await browser.token()).status).toBe(401)
  })

  test('that has expired, beside a good cookie, the cookie counts', async () => {
    const { browser } = await signIn(hub, 'acme')
    expect((await browser.call('POST', path, { bearer: 'a.b.c' })).status).toBe(204)
    expect(outcome(await browser.token())).toEqual([401, 'authentication-failed'])
  })

  test('of another session than the cookie’s ends both', async () => {
    const one = await signIn(hub, 'acme')
    const other = await signIn(hub, 'acme')
    const { body } = await other.browser.token()
    expect((await one.browser.call('POST', path, { bearer: body.access_token })).status).toBe(204)
    one.browser.keep(cookieNames.session, one.session.sessionToken)
    expect([(await one.browser.token()).status, (await other.browser.token()).status]).toEqual([401, 401])
  })

  test('of a service account ends nothing: it has no session', async () => {
    const answer = await new Browser(hub.baseUrl).call('POST', path, { bearer: await hub.token('acme') })
    expect(outcome(answer)).toEqual([401, 'authentication-failed'])
    expect((await hub.call('acme', 'GET', '/api/v1/hub/records')).status).toBe(200)
  })
})

test('without any valid credential it clears the cookies and is refused', async () => {
  const browser = new Browser(hub.baseUrl)
  browser.keep(cookieNames.session, 'nonsense')
  browser.keep(cookieNames.refresh, 'nonsense')
  expect(outcome(await browser.call('POST', path))).toEqual([401, 'authentication-failed'])
  expect(cookiesOf(browser)).toEqual([undefined, undefined, undefined])
  expect(outcome(await browser.call('POST', path))).toEqual([401, 'authentication-failed'])
})

test.each([
  [{ everywhere: 'yes' }, '/everywhere'],
  [{ all: true }, '/all'],
  [[], ''],
])('the body %j is refused, and ends nothing', async (body, pointer) => {
  const { browser } = await signIn(hub, 'acme')
  const answer = await browser.call('POST', path, { body })
  expect(outcome(answer)).toEqual([400, 'validation-failed'])
  expect(answer.body.errors[0].pointer).toBe(pointer)
  expect((await browser.token()).status).toBe(200)
})

test('under another tenant’s name it is refused, and ends nothing', async () => {
  const { browser } = await signIn(hub, 'acme')
  const answer = await browser.call('POST', path, { headers: { 'x-service-tenant': 'globex' } })
  expect(outcome(answer)).toEqual([403, 'invalid-tenant'])
  expect((await browser.token()).status).toBe(200)
})

test('a page of another site cannot sign anybody out', async () => {
  const { browser } = await signIn(hub, 'acme')
  const answer = await browser.call('POST', path, { headers: { 'sec-fetch-site': 'cross-site' } })
  expect(outcome(answer)).toEqual([403, 'cross-site-request'])
  expect((await browser.token()).status).toBe(200)
})
