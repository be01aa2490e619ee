import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { eventsOf } from './auth-lab.ts'
import { Browser, cookieNames, outcome, type SignedInPerson, signIn } from './people.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())
afterEach(() => {
  vi.useRealTimers()
})

/** Moves the clock of the service, which runs in this process; timers and waiting stay as they are. */
function later(seconds: number): void {
  const now = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: now + seconds * 1000 })
}

async function reuseEvents(userId: string) {
  const events = await eventsOf(hub.test.database, 'acme')
  return events.filter(({ event_kind, subject }) => {
    return event_kind === 'auth.refresh_reuse_detected' && subject === `user:${userId}`
  })
}

async function begin(): Promise<SignedInPerson & { refreshToken: string }> {
  const person = await signIn(hub, 'acme', { role: 'analyst' })
  const { status, body } = await person.browser.token()
  expect(status).toBe(200)
  return { ...person, refreshToken: body.refresh_token }
}

const readsRecords = async (bearer: string) =>
  (
    await new Browser(hub.baseUrl).call('GET', '/api/v1/hub/records', {
      bearer,
      headers: { 'x-service-tenant': 'acme' },
    })
  ).status

describe('tabs side by side', () => {
  test('100 parallel refreshes give one successor, no alarm, and the session goes on', async () => {
    const { browser, user, refreshToken } = await begin()
    const answers = await Promise.all(Array.from({ length: 100 }, () => browser.refresh(refreshToken)))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
    const successors = new Set(answers.map((answer) => answer.body.refresh_token))
    expect(successors.size).toBe(1)
    expect(successors.has(refreshToken)).toBe(false)
    expect(new Set(answers.map(({ headers }) => headers.getSetCookie()[0]?.split(';')[0])).size).toBe(1)
    expect(await reuseEvents(user.userId)).toEqual([])
    const [successor] = [...successors]
    expect((await browser.refresh(String(successor))).status).toBe(200)
    for (const { body } of answers.slice(0, 5)) expect(await readsRecords(body.access_token)).toBe(200)
  })

  test('parallel first calls give each tab a family of its own, under one cookie', async () => {
    const { browser } = await signIn(hub, 'acme')
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser.token()))
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(10)
    expect(new Set(answers.map(({ headers }) => headers.getSetCookie()[0]?.split(';')[0])).size).toBe(1)
    for (const { body } of answers) expect((await browser.refresh(body.refresh_token)).status).toBe(200)
  })

  test('whoever is late finds the newest, not the next', async () => {
    const { browser, refreshToken } = await begin()
    const second = (await browser.refresh(refreshToken)).body.refresh_token
    const third = (await browser.refresh(second)).body.refresh_token
    expect((await browser.refresh(refreshToken)).body.refresh_token).toBe(third)
    expect((await browser.refresh(second)).body.refresh_token).toBe(third)
  })

  test('of many families only the twenty that were used last are kept', async () => {
    const { browser, refreshToken } = await begin()
    const unused = (await browser.token()).body.refresh_token
    const followed = (await browser.refresh(refreshToken)).body.refresh_token
    for (let each = 0; each < 19; each += 1) await browser.token()
    expect(outcome(await browser.refresh(unused))).toEqual([401, 'authentication-failed'])
    expect((await browser.refresh(followed)).status).toBe(200)
    expect((await browser.token()).status).toBe(200)
  })
})

describe('a refresh token that is used again', () => {
  test('within 20 seconds gives the same successor', async () => {
    const { browser, user, refreshToken } = await begin()
    const { body } = await browser.refresh(refreshToken)
    later(19)
    const again = await browser.refresh(refreshToken)
    expect([again.status, again.body.refresh_token]).toEqual([200, body.refresh_token])
    expect(await reuseEvents(user.userId)).toEqual([])
  })

  test('later ends the session: successors, access tokens, cookies; and writes it down once', async () => {
    const { browser, user, session, refreshToken } = await begin()
    const thief = new Browser(hub.baseUrl)
    thief.keep(cookieNames.refresh, browser.cookie(cookieNames.refresh) ?? '')
    const { body } = await browser.refresh(refreshToken)
    expect(await readsRecords(body.access_token)).toBe(200)
    later(21)
    expect(outcome(await thief.refresh(refreshToken))).toEqual([401, 'authentication-failed'])
    expect(thief.cookie(cookieNames.refresh)).toBeUndefined()
    expect(await readsRecords(body.access_token)).toBe(401)
    expect(outcome(await browser.refresh(body.refresh_token))).toEqual([401, 'authentication-failed'])
    expect([browser.cookie(cookieNames.session), browser.cookie(cookieNames.refresh)]).toEqual([undefined, undefined])
    browser.keep(cookieNames.session, session.sessionToken)
    expect((await browser.token()).status).toBe(401)
    const events = await reuseEvents(user.userId)
    expect(events).toHaveLength(1)
    const [family] = [decodeJwt(refreshToken).family]
    expect(events[0]?.details).toEqual({
      session_id: session.sessionId,
      family_id: family,
      generation: 1,
      current_generation: 2,
      actor: user.userId,
      address: '127.0.0.1',
      request_id: expect.any(String),
    })
  })

  test('later, by many at once, raises one alarm', async () => {
    const { browser, user, refreshToken } = await begin()
    await browser.refresh(refreshToken)
    later(21)
    const cookie = `${cookieNames.refresh}=${browser.cookie(cookieNames.refresh)}`
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        new Browser(hub.baseUrl).token({ grant_type: 'refresh_token', refresh_token: refreshToken }, { cookie }),
      ),
    )
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([401]))
    expect(await reuseEvents(user.userId)).toHaveLength(1)
  })

  test('leaves the person’s other sessions alone', async () => {
    const email = 'two-sessions@acme.example'
    const phone = await signIn(hub, 'acme', { email })
    const laptop = await signIn(hub, 'acme', { email })
    const { body } = await phone.browser.token()
    await phone.browser.refresh(body.refresh_token)
    later(21)
    expect((await phone.browser.refresh(body.refresh_token)).status).toBe(401)
    expect((await laptop.browser.token()).status).toBe(200)
  })
})

describe('the 8 hours', () => {
  test('never grow: tokens get shorter towards the end, and then there are none', async () => {
    const { browser, session, refreshToken } = await begin()
    const end = session.expiresAtMs / 1000
    expect(decodeJwt(refreshToken).exp).toBe(end)
    later(8 * 3600 - 100)
    const { body } = await browser.refresh(refreshToken)
    expect(body.expires_in).toBeLessThanOrEqual(100)
    expect(body.expires_in).toBe(body.refresh_expires_in)
    expect(decodeJwt(body.refresh_token).exp).toBe(end)
    expect(decodeJwt(body.access_token).exp).toBeLessThanOrEqual(end)
    later(101)
    expect(outcome(await browser.refresh(body.refresh_token))).toEqual([401, 'authentication-failed'])
    browser.keep(cookieNames.session, session.sessionToken)
    expect(outcome(await browser.token())).toEqual([401, 'authentication-failed'])
    expect(browser.cookie(cookieNames.session)).toBeUndefined()
    expect(outcome(await browser.call('GET', '/api/v1/auth/me', { bearer: body.access_token }))[0]).toBe(401)
  })

  test('are what the cookies live for', async () => {
    const { browser } = await signIn(hub, 'acme')
    later(3 * 3600)
    const [line = ''] = (await browser.token()).headers.getSetCookie()
    const seconds = Number(/Max-Age=(\d+)/.exec(line)?.[1])
    expect(seconds).toBeGreaterThan(5 * 3600 - 60)
    expect(seconds).toBeLessThanOrEqual(5 * 3600)
  })
})

test('a refresh token says whose it is, and binds its cookie by hash only', async () => {
  const { browser, user, session, refreshToken } = await begin()
  expect(decodeProtectedHeader(refreshToken)).toEqual({ alg: 'HS256', typ: 'refresh+jwt' })
  expect(decodeJwt(refreshToken)).toMatchObject({
    iss: hub.baseUrl,
    aud: `${hub.baseUrl}/api/v1/auth`,
    sub: user.userId,
    sid: session.sessionId,
    tenant: 'acme',
    generation: 1,
  })
  const cookie = browser.cookie(cookieNames.refresh) ?? ''
  expect(cookie).toMatch(/^[\w-]{43}$/)
  expect(JSON.stringify(decodeJwt(refreshToken))).not.toContain(cookie)
})

test('whoever is deactivated refreshes no more', async () => {
  const { browser, user, refreshToken } = await begin()
  await hub.call('acme', 'POST', `/api/v1/roster/users/${user.userId}:deactivate`)
  expect(outcome(await browser.refresh(refreshToken))).toEqual([401, 'authentication-failed'])
  expect(browser.cookie(cookieNames.refresh)).toBeUndefined()
})

test('a new role is in the next token', async () => {
  const { browser, user, refreshToken } = await begin()
  const changed = await hub.call('acme', 'PUT', `/api/v1/roster/users/${user.userId}/role`, {
    body: { role: 'member' },
  })
  expect(changed.status, changed.text).toBe(200)
  const { body } = await browser.refresh(refreshToken)
  expect(decodeJwt(body.access_token).scope).toBe('telemetry:read')
  expect(await readsRecords(body.access_token)).toBe(200)
})
