import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventsOf } from '../auth/auth-lab.ts'
import { Browser, cookieNames, outcome, signIn } from '../auth/people.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const path = '/api/v1/auth/sessions'
const email = 'kim@acme.example'

test('ends another session of the person, with its tokens, and writes it down', async () => {
  const [phone, laptop] = [await signIn(hub, 'acme', { email, role: 'analyst' }), await signIn(hub, 'acme', { email })]
  const { body } = await phone.browser.token()
  const answer = await laptop.browser.call('DELETE', `${path}/${phone.session.sessionId}`)
  expect([answer.status, answer.body, answer.headers.getSetCookie()]).toEqual([204, '', []])
  const read = { bearer: body.access_token, headers: { 'x-service-tenant': 'acme' } }
  expect((await phone.browser.call('GET', '/api/v1/hub/records', read)).status).toBe(401)
  expect((await phone.browser.token()).status).toBe(401)
  expect((await laptop.browser.token()).status).toBe(200)
  const event = (await eventsOf(hub.test.database, 'acme')).at(-1)
  expect(event).toMatchObject({
    event_kind: 'auth.logout',
    subject: `user:${laptop.user.userId}`,
    details: { session_id: phone.session.sessionId, everywhere: false, actor: laptop.user.userId },
  })
  const again = await laptop.browser.call('DELETE', `${path}/${phone.session.sessionId}`)
  expect(outcome(again)).toEqual([404, 'not-found'])
})

test('ends the own session, and clears its cookies', async () => {
  const { browser, session } = await signIn(hub, 'acme')
  await browser.token()
  expect((await browser.call('DELETE', `${path}/${session.sessionId}`)).status).toBe(204)
  expect([browser.cookie(cookieNames.session), browser.cookie(cookieNames.refresh)]).toEqual([undefined, undefined])
})

describe('is refused', () => {
  test('for a session of somebody else, of another tenant and for one that nobody has, alike', async () => {
    const kim = await signIn(hub, 'acme', { email })
    const others = [await signIn(hub, 'acme'), await signIn(hub, 'globex', { email })]
    const details = new Set<string>()
    for (const id of [...others.map((each) => each.session.sessionId), 'ses_4Kq8ZrT2vYw0LxNp6BdHs9Aj']) {
      const answer = await kim.browser.call('DELETE', `${path}/${id}`)
      expect(outcome(answer)).toEqual([404, 'not-found'])
      details.add(answer.body.detail)
    }
    expect(details.size).toBe(1)
    for (const { browser } of others) expect((await browser.token()).status).toBe(200)
  })

  test('for a service account', async () => {
    const { browser, session } = await signIn(hub, 'acme')
    expect(outcome(await hub.call('acme', 'DELETE', `${path}/${session.sessionId}`))).toEqual([404, 'not-found'])
    expect((await browser.token()).status).toBe(200)
  })

  test('without a credential, under another tenant’s name, from another site', async () => {
    const { browser, session } = await signIn(hub, 'acme')
    const own = `${path}/${session.sessionId}`
    for (const shown of [own, `${path}/xx`, `${own}?verbose=1`]) {
      const answer = await new Browser(hub.baseUrl).call('DELETE', shown)
      expect(outcome(answer)).toEqual([401, 'authentication-failed'])
    }
    const named = await browser.call('DELETE', own, { headers: { 'x-service-tenant': 'globex' } })
    expect(outcome(named)).toEqual([403, 'invalid-tenant'])
    const foreign = await browser.call('DELETE', own, { headers: { origin: 'https://evil.example' } })
    expect(outcome(foreign)).toEqual([403, 'cross-site-request'])
    expect((await browser.token()).status).toBe(200)
  })

  test.each(['nonsense', 'ses_', 'ses_%00', `ses_${'x'.repeat(65)}`])('for an id such as %s', async (id) => {
    const { browser } = await signIn(hub, 'acme')
    expect(outcome(await browser.call('DELETE', `${path}/${id}`))).toEqual([400, 'validation-failed'])
  })
})
