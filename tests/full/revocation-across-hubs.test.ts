import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../../contract/roles.ts'
import { freshMs } from '../../server/modules/auth/revocation/revocations.ts'
import { signIn } from '../auth/people.ts'
import { type SecondHub, startSecondHub } from '../auth/second-hub.ts'
import { startHub, type TestHub } from '../support/hub.ts'

/** What one Hub revokes, another one on the same database refuses: at once by notification, within five seconds anyhow. */

const promisedMs = 5_000
let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

interface Case {
  token: string
  revoke(): Promise<unknown>
  detail: RegExp
}

async function person(revoke: (userId: string) => Promise<unknown>, role: Role = 'analyst'): Promise<Case> {
  const { browser, user } = await signIn(hub, 'acme', { role })
  const { body } = await browser.token()
  return { token: body.access_token, revoke: () => revoke(user.userId), detail: /revoked.*session.*rights/ }
}

async function loggedOut(everywhere: boolean): Promise<Case> {
  const { browser } = await signIn(hub, 'acme', { role: 'analyst' })
  const { body } = await browser.token()
  const revoke = async () => {
    const { status } = await browser.call('POST', '/api/v1/auth/logout', { body: { everywhere } })
    expect(status).toBe(204)
  }
  return { token: body.access_token, revoke, detail: /revoked.*session/ }
}

async function done(method: string, path: string, body?: unknown): Promise<void> {
  const { status, text } = await hub.call('acme', method, path, { body })
  expect(status, text).toBe(200)
}

const cases: Record<string, () => Promise<Case>> = {
  'a disabled service account': async () => {
    const scopes = ['hub:read'] as const
    const { client_id, client_secret } = await hub.modules.auth.serviceAccounts.create(
      await hub.tenant('acme'),
      { name: 'to be disabled', scopes },
      { operator: 'test' },
    )
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
    const answer = await fetch(`${hub.baseUrl}/api/v1/oauth/token`, { method: 'POST', body })
    const { access_token: token } = (await answer.json()) as { access_token: string }
    const revoke = () => done('DELETE', `/api/v1/service-accounts/${client_id}`)
    return { token, revoke, detail: /revoked.*service account/ }
  },
  'a deactivated user': () => person((id) => done('POST', `/api/v1/roster/users/${id}:deactivate`)),
  'a user with another role': () =>
    person((id) => done('PUT', `/api/v1/roster/users/${id}/role`, { role: 'member' }), 'analyst'),
  'a session that has ended': () => loggedOut(false),
  'all sessions of a user': () => loggedOut(true),
}

/** Waits until the other Hub refuses the token that this one has revoked: after one look at most. */
async function expectRefused(other: SecondHub, { token, revoke, detail }: Case, looks = () => 0): Promise<void> {
  expect(await other.use(token)).toMatchObject({ status: 200 })
  await revoke()
  const looksBefore = looks()
  const refusal = async () => {
    const looksSince = looks() - looksBefore
    const { status, detail: said } = await other.use(token)
    expect([200, 401]).toContain(status)
    // The second look begins after the first has ended, and the first one has found it.
    if (status === 200) expect(looksSince).toBeLessThan(2)
    return status === 401 ? said : undefined
  }
  await expect.poll(refusal, { interval: 10 }).toMatch(detail)
}

test('a Hub answers from what it has read for less than the five seconds that are promised', () => {
  expect(freshMs).toBeLessThan(promisedMs)
})

describe('with notifications', () => {
  let other: SecondHub
  beforeAll(async () => {
    other = await startSecondHub(hub, { notified: 'only' })
  })
  afterAll(() => other.stop())
  for (const [name, make] of Object.entries(cases)) {
    test(`${name}: refused by the notification alone`, async () => {
      await expectRefused(other, await make())
    })
  }

  test('the listening connection is cut: refused by the notification of the next one, and notified afterwards', async () => {
    const superuser = await hub.superuserClient()
    const listening = `from pg_stat_activity where datname = current_database() and application_name = 'hub-listen'`
    const made = await cases['a disabled service account']!()
    expect((await other.use(made.token)).status).toBe(200)
    const { rows } = await superuser.query(`select pid, pg_terminate_backend(pid) as cut ${listening}`)
    expect(rows.length).toBeGreaterThan(0)
    await expectRefused(other, made)
    const cut = rows.map(({ pid }) => pid)
    const isBack = async () => {
      const now = await superuser.query(`select 1 ${listening} and query ~ 'listen' and not pid = any($1)`, [cut])
      return now.rowCount === rows.length
    }
    while (!(await isBack())) await delay(20)
    await expectRefused(other, await cases['a disabled service account']!())
  })
})

describe('without notifications', () => {
  let other: SecondHub
  let looks = 0
  beforeAll(async () => {
    const onQuery = (text: string) => {
      if (text.includes('from hub.revocations')) looks += 1
    }
    other = await startSecondHub(hub, { notified: 'never', onQuery })
  })
  afterAll(() => other.stop())

  test('everything is refused after the next look', async () => {
    const all = await Promise.all(Object.values(cases).map((make) => make()))
    await Promise.all(all.map((each) => expectRefused(other, each, () => looks)))
    expect(looks).toBeGreaterThan(0)
  })
})

describe('while its database is away', () => {
  let other: SecondHub
  beforeAll(async () => {
    other = await startSecondHub(hub)
  })
  afterAll(() => other.stop())

  /** What it says of a token from memory, before anything that needs the database. */
  const verdict = (token: string): Promise<string> =>
    other.modules.auth.access.authenticate(token, '127.0.0.1').then(
      () => 'taken',
      (error: { slug?: string }) => error.slug ?? String(error),
    )

  test.each(['shut', 'hold'] as const)('it takes no token that it cannot be sure of (%s)', async (how) => {
    const revoked = await cases['a deactivated user']!()
    const good = await hub.token('acme')
    expect([await verdict(revoked.token), await verdict(good)]).toEqual(['taken', 'taken'])
    other.gate[how]()
    const awaySince = performance.now()
    await revoked.revoke()
    let takenUntil = awaySince
    for (;;) {
      const askedAt = performance.now()
      const said = await verdict(revoked.token)
      if (said === 'hub-unavailable') break
      expect(said).toBe('taken')
      takenUntil = askedAt
      await delay(20)
    }
    // By its own clock, and so on any machine: what it knows is from before its database went away.
    expect(takenUntil - awaySince).toBeLessThanOrEqual(freshMs)
    expect((await other.use(good)).status).toBe(503)

    other.gate.open()
    for (;;) {
      const askedAt = performance.now()
      const said = await verdict(revoked.token)
      if (said === 'authentication-failed') break
      // It is unsure of the tenant sooner than of revocations, which it knows for the time that is promised.
      if (said === 'taken') expect(askedAt - awaySince).toBeLessThanOrEqual(freshMs)
      else expect(said).toBe('hub-unavailable')
      await delay(20)
    }
    expect(await verdict(good)).toBe('taken')
    expect((await other.use(good)).status).toBe(200)
  })
})
