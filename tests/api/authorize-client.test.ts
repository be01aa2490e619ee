import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorize, callback, decide, newClient, newPkce, redeem, requestOf, responseOf } from '../auth/client-lab.ts'
import { Browser, type SignedInPerson, signIn } from '../auth/people.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let kim: SignedInPerson
let clientId: string
const pkce = newPkce()
beforeAll(async () => {
  hub = await startHub({ limitFactor: 100 })
  kim = await signIn(hub, 'acme', { email: 'kim@acme.example', role: 'analyst' })
  clientId = await newClient(hub.baseUrl)
})
afterAll(() => hub.stop())

const ask = (changes: Record<string, string | undefined> = {}, headers = {}) =>
  authorize(kim.browser, requestOf(clientId, pkce, changes), headers)

test('shows client, redirect host, tenant, and the scopes of the role', async () => {
  const { status, body, headers } = await ask()
  expect(status).toBe(200)
  for (const text of ['Agent One', '127.0.0.1:4567', 'acme', 'kim@acme.example, analyst']) expect(body).toContain(text)
  const offered = [...body.matchAll(/name="scopes" value="([^"]+)"/g)].map(([, scope]) => scope)
  expect(offered).toEqual(['hub:read', 'telemetry:read'])
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).toContain("form-action 'self' http://127.0.0.1:4567;")
  expect(policy).not.toContain('script-src')
  expect(headers.get('cache-control')).toBe('no-store')
})

test('a role without the requested scopes can only cancel', async () => {
  const { body } = await ask({ scope: 'hub:purge roster:write' })
  expect(body).toContain('Your role has none of the permissions')
  expect(body).not.toContain('value="approve"')
})

test('only scopes that read are selected beforehand, and a client may ask for writing alone', async () => {
  const admin = await signIn(hub, 'acme', { role: 'admin' })
  const { body } = await authorize(admin.browser, requestOf(clientId, pkce, { scope: undefined }))
  const selected = [...body.matchAll(/value="([^"]+)" checked/g)].map(([, scope]) => scope)
  expect(selected).toEqual(['hub:read', 'skill_entitlement:read', 'telemetry:read'])
  for (const scope of ['hub:write', 'hub:purge']) expect(body).toContain(`value="${scope}"`)
  // With it an agent could make a service account, which outlives its authorization.
  expect(body).not.toContain('connector:admin')
  const request = requestOf(clientId, pkce, { scope: 'hub:write' })
  const asked = await authorize(admin.browser, request)
  expect(asked.body).toContain('value="hub:write">')
  expect(asked.body).toContain('value="approve"')
  const refused = await decide(admin, request, { scopes: [] })
  expect(refused.body).toContain('Choose at least one permission')
  const { code = '' } = responseOf(await decide(admin, request, { scopes: ['hub:write'] }))
  expect((await redeem(hub.baseUrl, clientId, code, pkce)).body.scope).toBe('hub:write')
})

test('the name of a client is text, whatever it has', async () => {
  const client = await newClient(hub.baseUrl, { client_name: '<img src=x onerror=alert(1)>"\'' })
  const { body } = await authorize(kim.browser, requestOf(client, pkce))
  expect(body).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;')
  expect(body).not.toContain('<img')
})

describe('without a session', () => {
  test('leads to the sign-in and back', async () => {
    const { status, headers } = await authorize(new Browser(hub.baseUrl), requestOf(clientId, pkce))
    const location = new URL(headers.get('location') ?? '', hub.baseUrl)
    expect([status, location.pathname]).toEqual([302, '/sign-in'])
    const page = await (await fetch(location)).text()
    expect(page).toContain(`value="/api/v1/oauth/authorize?response_type=code&amp;client_id=${clientId}`)
  })

  test('from another site, asks first: browsers withhold the cookie', async () => {
    const { status, body } = await authorize(new Browser(hub.baseUrl), requestOf(clientId, pkce), {
      'sec-fetch-site': 'cross-site',
    })
    expect([status, body.includes('id="go-on"')]).toEqual([200, true])
  })

  test('an ended session counts as none', async () => {
    const gone = await signIn(hub, 'acme')
    await gone.browser.call('POST', '/api/v1/auth/logout')
    gone.browser.keep('service_session', gone.session.sessionToken)
    expect((await authorize(gone.browser, requestOf(clientId, pkce))).status).toBe(302)
  })
})

describe('never redirects, for', () => {
  const other = 'http://127.0.0.1:4567'
  test.each<[string, Record<string, string | undefined>]>([
    ['no client', { client_id: undefined }],
    ['an unknown client', { client_id: 'hubc.WyJ4Il0.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['a service account', { client_id: 'saJ4kQ8ZrT2vYw0LxNp6BdHs9' }],
    ['no redirect URI', { redirect_uri: undefined }],
    ['another path', { redirect_uri: `${other}/other` }],
    ['a longer path', { redirect_uri: `${other}/callback/..` }],
    ['a query', { redirect_uri: `${callback}?x=1` }],
    ['a fragment', { redirect_uri: `${callback}#x` }],
    ['a user name', { redirect_uri: 'http://127.0.0.1:4567@evil.example/callback' }],
    ['a user name before it', { redirect_uri: 'http://evil@127.0.0.1:4567/callback' }],
    ['another loopback name', { redirect_uri: 'http://localhost:4567/callback' }],
    ['https', { redirect_uri: 'https://127.0.0.1:4567/callback' }],
    ['capital letters', { redirect_uri: 'HTTP://127.0.0.1:4567/callback' }],
    ['encoded letters', { redirect_uri: `${other}/%63allback` }],
    ['another host', { redirect_uri: 'https://evil.example/callback' }],
    ['a script', { redirect_uri: 'javascript:alert(1)//127.0.0.1/callback' }],
    ['two addresses', { redirect_uri: `${callback} https://evil.example/` }],
    ['a long state', { state: 'x'.repeat(2001) }],
    ['a long request', { state: 'x'.repeat(1900) }],
  ])('%s', async (_name, changes) => {
    const { status, headers, body } = await ask(changes)
    expect([status, headers.get('location')]).toEqual([400, null])
    expect(body).toContain('The program cannot be connected')
  })

  test('a port of https that is not registered', async () => {
    const registered = 'https://agent.example/callback'
    const client = await newClient(hub.baseUrl, { redirect_uris: [registered] })
    const at = (uri: string) => authorize(kim.browser, requestOf(client, pkce, { redirect_uri: uri }))
    expect((await at(registered)).status).toBe(200)
    for (const uri of ['https://agent.example:444/callback', 'https://agent.example:443/callback', `${registered}/`]) {
      expect([uri, (await at(uri)).status]).toEqual([uri, 400])
    }
  })

  test('a repeated parameter', async () => {
    const query = `${new URLSearchParams(requestOf(clientId, pkce))}&redirect_uri=https://evil.example/`
    const { status, headers } = await kim.browser.call('GET', `/api/v1/oauth/authorize?${query}`)
    expect([status, headers.get('location')]).toEqual([400, null])
  })
})

test('the port of a loopback address is free', async () => {
  for (const uri of ['http://127.0.0.1:1/callback', 'http://127.0.0.1/callback']) {
    expect((await ask({ redirect_uri: uri })).status).toBe(200)
  }
})

describe('tells the client about', () => {
  test.each<[string, Record<string, string | undefined>, string]>([
    ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['PKCE plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['PKCE without a method, which would be plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'x'.repeat(42) }, 'invalid_request'],
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
    ['an unknown resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    ['no scope of the Hub', { scope: 'openid' }, 'invalid_scope'],
  ])('%s', async (_name, changes, error) => {
    const answer = await ask(changes)
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')?.startsWith(`${callback}?error=`)).toBe(true)
    expect(responseOf(answer)).toEqual({
      error,
      error_description: expect.any(String),
      state: 'state-1',
      iss: hub.baseUrl,
    })
  })

  test('but no other site: anybody can register one, and the Hub redirects nobody to any address', async () => {
    const uri = 'https://agent.example/callback?a=b'
    const client = await newClient(hub.baseUrl, { redirect_uris: [uri] })
    const changes = { redirect_uri: uri, code_challenge_method: 'plain' }
    const { status, headers, body } = await authorize(kim.browser, requestOf(client, pkce, changes))
    expect([status, headers.get('location')]).toEqual([400, null])
    expect(body).toContain('code_challenge_method must be S256')
  })
})

test('takes both names of the resource, and parameters that it does not know', async () => {
  for (const resource of [`${hub.baseUrl}/mcp`, `${hub.baseUrl}/`, hub.baseUrl]) {
    expect((await ask({ resource, prompt: 'consent', login_hint: 'x' })).status).toBe(200)
  }
})
