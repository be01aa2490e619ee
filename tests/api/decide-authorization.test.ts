import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventsOf } from '../auth/auth-lab.ts'
import { callback, decide, newClient, newPkce, requestOf, responseOf } from '../auth/client-lab.ts'
import { Browser, type SignedInPerson, signIn } from '../auth/people.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let kim: SignedInPerson
let request: Record<string, string>
beforeAll(async () => {
  hub = await startHub({ limitFactor: 100 })
  kim = await signIn(hub, 'acme', { role: 'analyst' })
  request = requestOf(await newClient(hub.baseUrl), newPkce())
})
afterAll(() => hub.stop())

test('approving leads to the client with a code and the issuer, and is an event', async () => {
  const answer = await decide(kim, request, { scopes: ['telemetry:read', 'hub:read'] })
  expect([answer.status, answer.headers.get('referrer-policy')]).toEqual([303, 'no-referrer'])
  expect(answer.headers.get('location')?.startsWith(`${callback}?code=`)).toBe(true)
  expect(responseOf(answer)).toEqual({ code: expect.any(String), state: 'state-1', iss: hub.baseUrl })
  const event = (await eventsOf(hub.test.database, 'acme')).findLast(
    (each) => each.event_kind === 'auth.client_authorized',
  )
  expect(event).toMatchObject({
    subject: `user:${kim.user.userId}`,
    details: {
      client_name: 'Agent One',
      redirect_host: '127.0.0.1:4567',
      scopes: ['hub:read', 'telemetry:read'],
      session_id: expect.stringMatching(/^ses_/),
    },
  })
  // Nothing is live before the client redeems the code, of which the database has a digest only.
  const { body } = await kim.browser.call('GET', '/api/v1/auth/sessions')
  expect(body.items).toHaveLength(1)
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query('select code_hash from hub.sessions where client_name is not null')
  expect(rows[0].code_hash).toHaveLength(32)
})

test('denying tells the client, without a code', async () => {
  expect(responseOf(await decide(kim, request, { decision: 'deny' }))).toEqual({
    error: 'access_denied',
    state: 'state-1',
    iss: hub.baseUrl,
  })
})

test('shows the page again without a scope, and to another person than saw it', async () => {
  const none = await decide(kim, request, { scopes: [] })
  expect([none.status, none.body.includes('Choose at least one permission')]).toEqual([200, true])
  const other = await decide(kim, request, { session: 'ses_other' })
  expect([other.status, other.body.includes('You are signed in as somebody else')]).toEqual([200, true])
})

test('refuses scopes beyond the role or the request, and other decisions', async () => {
  for (const scopes of [['hub:read', 'hub:write'], ['hub:purge'], ['roster:read'], ['hub:read', 'x']]) {
    expect([scopes, (await decide(kim, request, { scopes })).status]).toEqual([scopes, 400])
  }
  expect((await decide(kim, request, { decision: 'yes' })).status).toBe(400)
})

test('checks the request again, and redirects nobody to an address that is not registered', async () => {
  for (const changes of [{ redirect_uri: 'https://evil.example/' }, { client_id: 'hubc.x.y' }]) {
    const { status, headers } = await decide(kim, { ...request, ...changes })
    expect([status, headers.get('location')]).toEqual([400, null])
  }
  const plain = await decide(kim, { ...request, code_challenge_method: 'plain' })
  expect(responseOf(plain)).toMatchObject({ error: 'invalid_request' })
})

test('needs the session cookie and a page of the Hub', async () => {
  const nobody = await decide({ ...kim, browser: new Browser(hub.baseUrl) }, request, {
    headers: { accept: 'application/json' },
  })
  expect(nobody.status).toBe(401)
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { origin: 'null' }]) {
    expect((await decide(kim, request, { headers: headers as Record<string, string> })).status).toBe(403)
  }
  const bearer = await fetch(`${hub.baseUrl}/api/v1/oauth/consent`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await hub.token('acme')}` },
    body: new URLSearchParams(request),
  })
  expect(bearer.status).toBe(401)
})

test('a session that ended in the meantime approves nothing', async () => {
  const gone = await signIn(hub, 'acme')
  await gone.browser.call('POST', '/api/v1/auth/logout')
  gone.browser.keep('service_session', gone.session.sessionToken)
  const { status, headers } = await decide(gone, request)
  expect([status, headers.get('location')]).toEqual([401, null])
})
