import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roleNames, roles } from '../../contract/roles.ts'
import { scopeNames } from '../../contract/scopes.ts'
import { Browser, cookieNames, outcome, signIn } from '../auth/people.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const path = '/api/v1/auth/me'

describe('a person', () => {
  test.each(roleNames)('who is %s sees the role and its scopes, by cookie and by token', async (role) => {
    const email = `${role}@acme.example`
    const { browser, user, session } = await signIn(hub, 'acme', { email, role, method: 'welcome_link' })
    const { body: tokens } = await browser.token()
    const byCookie = await browser.call('GET', path)
    expect([byCookie.status, byCookie.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    expect(byCookie.body).toEqual({
      kind: 'user',
      subject: user.userId,
      user_id: user.userId,
      tenant: 'acme',
      email,
      role,
      scopes: [...roles[role]],
      session: {
        session_id: session.sessionId,
        method: 'welcome_link',
        created_at: timestamp,
        expires_at: timestamp,
      },
    })
    const byToken = await new Browser(hub.baseUrl).call('GET', path, { bearer: tokens.access_token })
    expect(byToken.body).toEqual(byCookie.body)
  })

  test('goes by the access token where there are both', async () => {
    const one = await signIn(hub, 'acme')
    const other = await signIn(hub, 'globex')
    const { body } = await other.browser.token()
    expect((await one.browser.call('GET', path, { bearer: body.access_token })).body.tenant).toBe('globex')
  })

  test('whose session has ended sees nothing, by cookie or by token', async () => {
    const { browser, session } = await signIn(hub, 'acme')
    const { body } = await browser.token()
    await browser.call('POST', '/api/v1/auth/logout')
    browser.keep(cookieNames.session, session.sessionToken)
    expect(outcome(await browser.call('GET', path, { bearer: body.access_token }))).toEqual([
      401,
      'authentication-failed',
    ])
    expect(outcome(await browser.call('GET', path))).toEqual([401, 'authentication-failed'])
    expect(browser.cookie(cookieNames.session)).toBeUndefined()
  })
})

test('a service account sees its name and scopes', async () => {
  const answer = await hub.call('acme', 'GET', path, { headers: { 'x-service-tenant': undefined } })
  const clientId = await hub.clientId('acme')
  expect(answer.body).toEqual({
    kind: 'service_account',
    subject: clientId,
    client_id: clientId,
    name: expect.stringMatching(/^test /),
    tenant: 'acme',
    scopes: [...scopeNames],
  })
  const narrow = await hub.call('acme', 'GET', path, { scopes: ['hub:read'] })
  expect(narrow.body.scopes).toEqual(['hub:read'])
})

describe('is refused', () => {
  test('without a credential', async () => {
    for (const asked of [path, `${path}?verbose=1`]) {
      const answer = await new Browser(hub.baseUrl).call('GET', asked)
      expect(outcome(answer)).toEqual([401, 'authentication-failed'])
    }
  })

  test.each(['nonsense', 'Basic YTpi', 'Bearer', 'Bearer a.b.c'])(
    'with the Authorization header %j, even beside a good cookie',
    async (authorization) => {
      const { browser } = await signIn(hub, 'acme')
      const answer = await browser.call('GET', path, { headers: { authorization } })
      expect(outcome(answer)).toEqual([401, 'authentication-failed'])
      expect((await browser.call('GET', path)).status).toBe(200)
    },
  )

  test.each(['globex', 'nowhere'])('with %s in the tenant header', async (tenant) => {
    const { browser } = await signIn(hub, 'acme')
    const headers = { 'x-service-tenant': tenant }
    expect(outcome(await browser.call('GET', path, { headers }))).toEqual([403, 'invalid-tenant'])
    const account = await browser.call('GET', path, { headers, bearer: await hub.token('acme') })
    expect(outcome(account)).toEqual([403, 'invalid-tenant'])
  })

  test('with a query', async () => {
    const { browser } = await signIn(hub, 'acme')
    expect(outcome(await browser.call('GET', `${path}?verbose=1`))).toEqual([400, 'validation-failed'])
  })
})
