import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { TenantTx } from '../../server/db/database.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { patience } from '../support/machine-speed.ts'
import { eventsOf } from './auth-lab.ts'
import { Browser, cookieNames, outcome, signIn } from './people.ts'

let hub: TestHub
const statements: string[] = []
beforeAll(async () => {
  hub = await startHub({ onQuery: (text) => void statements.push(text) })
})
afterAll(() => hub.stop())

describe('signing in', () => {
  test('is an event of the tenant, without the address of the person, and is noted with the person', async () => {
    const beganMs = Date.now()
    const email = 'first@acme.example'
    const { user, session } = await signIn(hub, 'acme', { email, method: 'magic_link' })
    const event = (await eventsOf(hub.test.database, 'acme')).find((each) => each.event_kind === 'auth.login')
    expect(event).toMatchObject({ subject: `user:${user.userId}` })
    expect(event?.details).toEqual({
      method: 'magic_link',
      session_id: session.sessionId,
      actor: user.userId,
      address: '203.0.113.7',
      request_id: expect.any(String),
    })
    const events = JSON.stringify(await eventsOf(hub.test.database, 'acme'))
    expect(events).not.toContain(email)
    const { rows } = await (await hub.superuserClient()).query(
      'select last_sign_in_at from hub.users where user_id = $1',
      [user.userId],
    )
    expect(Date.parse(rows[0].last_sign_in_at)).toBeGreaterThanOrEqual(beganMs)
  })

  test('that is rolled back leaves no session', async () => {
    const tenant = await hub.tenant('acme')
    const { auth, roster } = hub.modules
    let token = ''
    const undone = hub.test.database.withTenant('acme', async (tx) => {
      const user = await roster.signInUsers.ensure(tx, tenant, 'undone@acme.example')
      const opened = await auth.sessions.open(tx, tenant, { user, method: 'mock', address: '::1', requestId: 'x' })
      token = opened.sessionToken
      throw new Error('undo')
    })
    await expect(undone).rejects.toThrow('undo')
    const answer = await new Browser(hub.baseUrl).token({}, { cookie: `service_session=${token}` })
    expect(outcome(answer)).toEqual([401, 'authentication-failed'])
  })
})

describe('the database', () => {
  test('holds neither tokens nor cookies', async () => {
    const { browser, session } = await signIn(hub, 'acme')
    const { body } = await browser.token()
    const superuser = await hub.superuserClient()
    const { rows } = await superuser.query(
      `select to_jsonb(s)::text || to_jsonb(f)::text as text from hub.sessions s
       join hub.refresh_families f using (tenant_id, session_id) where session_id = $1`,
      [session.sessionId],
    )
    expect(rows).toHaveLength(1)
    const secrets = [session.sessionToken, body.refresh_token, body.access_token].map((token) => token.split('.')[2])
    for (const secret of [...secrets, browser.cookie('__Secure-service_refresh')]) {
      expect(rows[0].text).not.toContain(secret)
    }
  })

  test('forgets sessions and their families a day after their end, a part at a time', async () => {
    const superuser = await hub.superuserClient()
    const old = await signIn(hub, 'globex')
    await old.browser.token()
    const recent = await signIn(hub, 'globex')
    await recent.browser.token()
    const age = (id: string, hours: number) =>
      superuser.query(`update hub.sessions set expires_at = now() - make_interval(hours => $2) where session_id = $1`, [
        id,
        hours,
      ])
    await age(old.session.sessionId, 25)
    await age(recent.session.sessionId, 23)
    const [chore] = hub.modules.auth.chores.filter(({ name }) => name === 'delete expired sessions')
    expect(await hub.test.database.withTenant('globex', (tx) => chore!.run(tx))).toBe(false)
    const left = async (table: string) =>
      (await superuser.query(`select session_id from hub.${table} where tenant_id = 'globex'`)).rows
    expect(await left('sessions')).toEqual([{ session_id: recent.session.sessionId }])
    expect(await left('refresh_families')).toEqual([{ session_id: recent.session.sessionId }])
  })
})

describe('the limit of ten calls a minute', () => {
  let limited: TestHub
  beforeAll(async () => {
    limited = await startHub({ limitFactor: 1 })
  })
  afterAll(() => limited.stop())

  test('is that of a session: another one of the same person has its own', async () => {
    const email = 'busy@acme.example'
    const busy = await signIn(limited, 'acme', { email })
    const calm = await signIn(limited, 'acme', { email })
    const answers = []
    for (let call = 0; call < 11; call += 1) answers.push(await busy.browser.token())
    expect(answers.slice(0, 10).map(({ status }) => status)).toEqual(Array(10).fill(200))
    const last = answers.at(-1)!
    expect(outcome(last)).toEqual([429, 'rate-limited'])
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(last.headers.getSetCookie()).toEqual([])
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"token";q=10;w=60, "tenant";q=100;w=60')
    expect((await calm.browser.token()).status).toBe(200)
  })

  test('is that of an address without a session, which keeps no session out', async () => {
    const stranger = new Browser(limited.baseUrl)
    const statuses = []
    for (let call = 0; call < 12; call += 1) statuses.push((await stranger.token()).status)
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
    const { browser } = await signIn(limited, 'globex')
    expect((await browser.token()).status).toBe(200)
  })

  test('keeps nobody from signing out, whose call is counted all the same', async () => {
    const email = 'leaves@globex.example'
    const [phone, laptop] = [await signIn(limited, 'globex', { email }), await signIn(limited, 'globex', { email })]
    const me = () => phone.browser.call('GET', '/api/v1/auth/me')
    for (let call = 0; call < 9; call += 1) expect((await me()).status).toBe(200)
    // The tenth is a look for a session that there is not, and counts as any.
    expect((await phone.browser.call('DELETE', '/api/v1/auth/sessions/ses_none')).status).toBe(404)
    expect((await me()).status).toBe(429)
    const others = `/api/v1/auth/sessions/${laptop.session.sessionId}`
    expect((await phone.browser.call('DELETE', others)).status).toBe(204)
    // The address has used up its wrong credentials before, so this is one or the other.
    expect([401, 429]).toContain((await laptop.browser.token()).status)
    const out = await phone.browser.call('POST', '/api/v1/auth/logout')
    expect([out.status, phone.browser.cookie(cookieNames.session)]).toEqual([204, undefined])
    phone.browser.keep(cookieNames.session, phone.session.sessionToken)
    const again = await phone.browser.call('POST', '/api/v1/auth/logout')
    expect([401, 429]).toContain(again.status)
    expect(phone.browser.cookie(cookieNames.session)).toBeUndefined()
  })

  test('loses no refresh token: a refused rotation has not happened', async () => {
    const { browser } = await signIn(limited, 'cmode')
    let { refresh_token: token } = (await browser.token()).body
    for (let call = 1; call < 10; call += 1) token = (await browser.refresh(token)).body.refresh_token
    expect((await browser.refresh(token)).status).toBe(429)
    const { rows } = await (await limited.superuserClient()).query(
      'select generation from hub.refresh_families where tenant_id = $1',
      ['cmode'],
    )
    expect(rows).toEqual([{ generation: 10 }])
  })
})

async function loseAccess(tx: TenantTx, userId: string) {
  const actor = { service: 'roster' }
  const tenant = await hub.tenant('acme')
  await hub.modules.events.publishInTransaction(tx, 'userDeactivated', { tenant, userId, actor })
}

test('a deactivation ends what a person has, in the transaction that takes the right away', async () => {
  const email = 'leaving@acme.example'
  const one = await signIn(hub, 'acme', { email })
  const other = await signIn(hub, 'acme', { email })
  const stays = await signIn(hub, 'acme')
  const { body } = await one.browser.token()
  const { database } = hub.test
  const undone = database.withTenant('acme', async (tx) => {
    await loseAccess(tx, one.user.userId)
    throw new Error('undo')
  })
  await expect(undone).rejects.toThrow('undo')
  expect((await one.browser.token()).status).toBe(200)
  await database.withTenant('acme', (tx) => loseAccess(tx, one.user.userId))
  const read = { bearer: body.access_token, headers: { 'x-service-tenant': 'acme' } }
  await vi.waitFor(async () => {
    expect((await one.browser.call('GET', '/api/v1/hub/records', read)).status).toBe(401)
  }, patience)
  expect([(await one.browser.token()).status, (await other.browser.token()).status]).toEqual([401, 401])
  expect((await stays.browser.token()).status).toBe(200)
})

test('a deactivation writes the end of any number of sessions at once', async () => {
  const email = 'many-devices@acme.example'
  const people = await Promise.all(Array.from({ length: 20 }, () => signIn(hub, 'acme', { email })))
  const tokens = await Promise.all(people.map(async ({ browser }) => (await browser.token()).body.access_token))
  statements.length = 0
  await hub.test.database.withTenant('acme', (tx) => loseAccess(tx, people[0]!.user.userId))
  expect(statements.filter((text) => /insert into hub\.revocations/.test(text))).toHaveLength(1)
  for (const bearer of tokens) {
    const me = await new Browser(hub.baseUrl).call('GET', '/api/v1/auth/me', { bearer })
    expect(me.body.detail).toContain('revoked')
  }
  statements.length = 0
  await hub.test.database.withTenant('acme', (tx) => loseAccess(tx, people[0]!.user.userId))
  expect(statements.filter((text) => /insert into hub\.revocations|pg_notify/.test(text))).toEqual([])
})
