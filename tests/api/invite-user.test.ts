import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signInMailsPerHour } from '../../contract/limits.ts'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import { press, sessionCookieOf, whoIsSignedIn } from '../auth/link-lab.ts'
import {
  askForStrangers,
  type RosterLab,
  startRosterLab,
  strangersAreUnknown,
  usersPath,
} from '../roster/roster-lab.ts'

let lab: RosterLab
let people = 0
beforeAll(async () => {
  lab = await startRosterLab()
})
afterAll(() => lab.close())

const add = async (role?: 'analyst' | 'admin') => (await lab.add('acme', `kim-${people++}@acme.example`, role)).user_id
const invite = (id: string, body?: unknown) => lab.call('acme', 'POST', `${usersPath}/${id}:invite`, { body })

async function withProvider(work: () => Promise<void>): Promise<void> {
  const superuser = await lab.hub.superuserClient()
  await superuser.query(
    `insert into hub.sso_connections (tenant_id, connection_id, issuer, client_id, client_secret_sealed,
       allowed_email_domains, created_at, updated_at)
     values ('acme', 'sso_1', 'https://idp.example', 'hub', '', '{acme.example}', now(), now())`,
  )
  await lab.hub.test.proveRows()
  await work().finally(() => superuser.query(`delete from hub.sso_connections where tenant_id = 'acme'`))
}

describe('without a mail server', () => {
  test('the response has a link once, which signs the person in for the first time and is recorded', async () => {
    const id = await add('analyst')
    const { status, body, headers } = await invite(id)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toEqual({
      user_id: id,
      delivery: 'link',
      sign_in: 'link',
      url: expect.stringMatching(new RegExp(`^${lab.hub.baseUrl}/invitation/acme/[\\w-]{43}$`)),
      expires_at: expect.stringMatching(/\.\d{6}Z$/),
    })
    expect(Date.parse(body.expires_at)).toBeLessThanOrEqual(Date.now() + 24 * 3_600_000)
    const events = await lab.eventsAbout('acme', id)
    expect(events.at(-1)).toMatchObject({
      change: 'user_invited',
      after: { delivery: 'link', sign_in: 'link', expires_at: body.expires_at },
      actor: expect.stringMatching(/^sa/),
    })
    expect(JSON.stringify(events)).not.toMatch(/@acme|\/invitation\//)
    const page = await fetch(body.url)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('You are invited')])
    const opened = await press(body.url)
    expect([opened.status, opened.headers.get('location')]).toEqual([303, '/'])
    expect(await whoIsSignedIn(lab.hub, opened)).toMatchObject({ role: 'analyst', session: { method: 'magic_link' } })
    const again = await press(body.url)
    expect([again.status, sessionCookieOf(again)]).toEqual([404, undefined])
    expect((await invite(id)).body).toMatchObject({
      status: 409,
      errors: [{ pointer: '/path/user_id', detail: 'has signed in already' }],
    })
  })

  test('a later invitation ends the earlier one, and both are pages of their own kind only', async () => {
    const id = await add()
    const first = (await invite(id, { delivery: 'link' })).body.url as string
    const second = (await invite(id, {})).body.url as string
    expect((await fetch(first)).status).toBe(404)
    for (const path of ['/sign-in/link/', '/welcome/']) {
      expect((await press(second.replace('/invitation/', path))).status).toBe(404)
    }
    expect((await press(second.replace('/acme/', '/globex/'))).status).toBe(404)
    expect((await press(second)).status).toBe(303)
  })

  test('an invitation does not open once the person has signed in otherwise, or was deactivated', async () => {
    const [signedIn, left] = [await add(), await add()]
    const links = [(await invite(signedIn)).body.url, (await invite(left)).body.url]
    const { signInUsers } = lab.hub.modules.roster
    await lab.hub.test.database.withTenant('acme', (tx) => signInUsers.noteSignIn(tx, signedIn))
    await lab.act('acme', left, 'deactivate')
    for (const link of links) expect((await press(link)).status).toBe(404)
    expect((await invite(left)).body).toMatchObject({ status: 409, errors: [{ detail: 'is deactivated' }] })
    await lab.act('acme', left, 'reactivate')
    expect((await press(links[1])).status).toBe(303)
  })

  test('one person is invited at most so many times an hour', async () => {
    const id = await add()
    for (let i = 0; i < signInMailsPerHour; i += 1) expect((await invite(id)).status).toBe(200)
    const refused = await invite(id)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600'])
    expect((await invite(await add())).status).toBe(200)
  })
})

describe('in a tenant with single sign-on', () => {
  test('the invitation is the sign-in page, for administrators too', () =>
    withProvider(async () => {
      for (const role of ['analyst', 'admin'] as const) {
        const id = await add(role)
        const { body } = await invite(id)
        const url = `${lab.hub.baseUrl}/sign-in?tenant=acme`
        expect(body).toEqual({ user_id: id, delivery: 'link', sign_in: 'identity_provider', url })
        expect((await fetch(url)).status).toBe(200)
      }
    }))

  test('a link from before does not open, for administrators either', async () => {
    const links = [(await invite(await add())).body.url, (await invite(await add('admin'))).body.url]
    await withProvider(async () => {
      for (const link of links) {
        const answer = await press(link)
        expect([answer.status, sessionCookieOf(answer)]).toEqual([404, undefined])
      }
    })
  })
})

test('a delivery that does not exist, and anything else, is refused', async () => {
  const id = await add()
  for (const [body, pointer] of [
    [{ delivery: 'fax' }, '/delivery'],
    [{ email: 'lee@acme.example' }, '/email'],
  ] as const) {
    const answer = await invite(id, body)
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer])
  }
})

test('nobody, a user of another tenant and what is no id are the same 404', async () => {
  expect(await askForStrangers(lab, 'POST', ':invite')).toEqual(strangersAreUnknown)
})

test('only administrators invite: a link opens a session', async () => {
  const id = await add()
  const scopes = ['roster:read', 'roster:write', 'telemetry:read'] as const
  expect(await commonRejections(lab, 'POST', `${usersPath}/${id}:invite`, { scopes })).toEqual(allRefused)
  expect(await lab.eventsAbout('acme', id)).toHaveLength(1)
})
