import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { eventsOf, operator } from './auth-lab.ts'
import {
  authorize,
  callback,
  codeFor,
  connect,
  newClient,
  newPkce,
  redeem,
  refresh,
  register,
  requestOf,
  tokenRequest,
} from './client-lab.ts'
import { Browser, outcome, type SignedInPerson, signIn } from './people.ts'

/** Tokens of clients that a person authorized, and the attacks on them. */

let hub: TestHub
let kim: SignedInPerson
let clientId: string
beforeAll(async () => {
  hub = await startHub({ limitFactor: 100 })
  clientId = await newClient(hub.baseUrl)
})
beforeEach(async () => {
  kim = await signIn(hub, 'acme', { email: 'kim@acme.example', role: 'analyst' })
})
afterEach(() => {
  vi.useRealTimers()
})
afterAll(() => hub.stop())

const sessions = '/api/v1/auth/sessions'
const url = () => hub.baseUrl
const me = (token: string) => new Browser(url()).call('GET', '/api/v1/auth/me', { bearer: token })
const errorOf = ({ status, body }: { status: number; body: { error?: string } }) => [status, body.error]
const invalidGrant = [400, 'invalid_grant']
const moveClock = (seconds: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 })

async function granted(scopes?: string[], changes: Record<string, string | undefined> = {}) {
  const pkce = newPkce()
  return { pkce, code: await codeFor(kim, requestOf(clientId, pkce, changes), scopes) }
}

async function lastEvent(kind: string) {
  return (await eventsOf(hub.test.database, 'acme')).findLast((each) => each.event_kind === kind)
}

test('a code gives tokens with the chosen scopes, which the API takes', async () => {
  const { pkce, code } = await granted(['telemetry:read'])
  const { status, body, headers } = await redeem(url(), clientId, code, pkce)
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(body).toEqual({
    access_token: expect.any(String),
    expires_in: 300,
    token_type: 'Bearer',
    scope: 'telemetry:read',
    refresh_token: expect.any(String),
    // The eight hours began with the consent.
    refresh_expires_in: expect.closeTo(28_800, -2),
  })
  const claims = JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString())
  expect(claims).toMatchObject({
    iss: url(),
    aud: url(),
    sub: kim.user.userId,
    client_id: clientId,
    tenant: 'acme',
    scope: 'telemetry:read',
    sid: expect.stringMatching(/^ses_/),
  })
  const bearer = { token: body.access_token }
  expect((await hub.call('acme', 'GET', '/api/v1/hub/records', bearer)).status).toBe(200)
  expect((await hub.call('acme', 'GET', '/api/v1/roster/users', bearer)).status).toBe(403)
})

test('an authorization is a session of the person, who ends it', async () => {
  const { token, refreshToken, sessionId, clientId: client } = await connect(kim)
  const listed = await kim.browser.call('GET', sessions)
  expect(listed.body.items[0]).toMatchObject({ session_id: sessionId, client_name: 'Agent One', current: false })
  expect((await me(token)).status).toBe(200)
  expect((await kim.browser.call('DELETE', `${sessions}/${sessionId}`)).status).toBe(204)
  expect(outcome(await me(token))).toEqual([401, 'authentication-failed'])
  expect(errorOf(await refresh(url(), client, refreshToken))).toEqual(invalidGrant)
  expect(await lastEvent('auth.client_revoked')).toMatchObject({
    subject: `user:${kim.user.userId}`,
    details: { session_id: sessionId, client_name: 'Agent One', reason: 'requested' },
  })
  expect((await kim.browser.call('GET', sessions)).body.items).not.toContainEqual(
    expect.objectContaining({ session_id: sessionId }),
  )
})

test('an authorization ends with all sessions and with the person, and each end has its event', async () => {
  const revoked = async () => {
    const events = (await eventsOf(hub.test.database, 'acme')).filter(
      (each) => each.event_kind === 'auth.client_revoked',
    )
    return events.map(({ subject, details }) => ({ subject, ...details }))
  }
  const lee = await signIn(hub, 'acme', { email: 'lee@acme.example', role: 'analyst' })
  const first = await connect(lee)
  const second = await connect(lee)
  const logout = await lee.browser.call('POST', '/api/v1/auth/logout', { body: { everywhere: true } })
  expect(logout.status).toBe(204)
  for (const { sessionId } of [first, second]) {
    expect(await revoked()).toContainEqual({
      ...{ subject: `user:${lee.user.userId}`, client_name: 'Agent One', session_id: sessionId },
      ...{ reason: 'signed_out_everywhere', actor: lee.user.userId },
      ...{ address: expect.any(String), request_id: expect.any(String) },
    })
  }
  const third = await connect(await signIn(hub, 'acme', { email: 'lee@acme.example', role: 'analyst' }))
  const admin = await hub.call('acme', 'POST', `/api/v1/roster/users/${lee.user.userId}:deactivate`)
  expect(admin.status, admin.text).toBe(200)
  expect(outcome(await me(third.token))).toEqual([401, 'authentication-failed'])
  const last = (await revoked()).at(-1)!
  expect(last).toMatchObject({ session_id: third.sessionId, reason: 'deactivated' })
  expect(last).not.toMatchObject({ actor: lee.user.userId })
})

test('events tell what an agent did from what its person did', async () => {
  const pat = await signIn(hub, 'acme', { role: 'admin' })
  const { token, sessionId } = await connect(pat, ['hub:read', 'hub:write', 'telemetry:read'])
  const agent = { client_name: 'Agent One', session_id: sessionId }
  const own = (await pat.browser.token()).body.access_token
  const body = { filter: { record_type: ['decision'] } }
  for (const bearer of [token, own]) {
    const order = await hub.call('acme', 'POST', '/api/v1/hub/records:export', { token: bearer, body })
    expect(order.status, order.text).toBe(202)
    expect((await hub.call('globex', 'GET', '/api/v1/hub/records', { token: bearer })).status).toBe(403)
  }
  const agentsIn = async (kind: string) => {
    const events = (await eventsOf(hub.test.database, 'acme')).filter(({ event_kind }) => event_kind === kind)
    return events.flatMap(({ subject, details }) =>
      details.actor === pat.user.userId || subject === `user:${pat.user.userId}` ? [details.agent] : [],
    )
  }
  expect(await agentsIn('hub.export_created')).toEqual([agent, undefined])
  await expect.poll(() => agentsIn('auth.access_refused')).toEqual([agent, undefined])
  const end = await new Browser(url()).call('DELETE', `${sessions}/${sessionId}`, { bearer: token })
  expect(end.status).toBe(204)
  expect(await lastEvent('auth.client_revoked')).toMatchObject({ details: { session_id: sessionId, agent } })
})

test('a client sees and ends its own authorization only', async () => {
  const { token, sessionId } = await connect(kim)
  const other = await connect(kim)
  const browser = new Browser(url())
  const { body } = await browser.call('GET', sessions, { bearer: token })
  expect(body.items.map((item: { session_id: string }) => item.session_id)).toEqual([sessionId])
  for (const id of [other.sessionId, kim.session.sessionId]) {
    expect((await browser.call('DELETE', `${sessions}/${id}`, { bearer: token })).status).toBe(404)
  }
  const logout = { bearer: token, body: { everywhere: true } }
  expect((await browser.call('POST', '/api/v1/auth/logout', logout)).status).toBe(204)
  expect((await me(token)).status).toBe(401)
  expect((await me(other.token)).status).toBe(200)
  expect((await kim.browser.call('GET', '/api/v1/auth/me')).status).toBe(200)
})

describe('a code', () => {
  test('is valid once: a second use ends what the first one issued', async () => {
    const { pkce, code } = await granted()
    const first = (await redeem(url(), clientId, code, pkce)).body
    expect(errorOf(await redeem(url(), clientId, code, pkce))).toEqual(invalidGrant)
    expect((await me(first.access_token)).status).toBe(401)
    expect(errorOf(await refresh(url(), clientId, first.refresh_token))).toEqual(invalidGrant)
    expect(await lastEvent('auth.client_revoked')).toMatchObject({
      subject: `user:${kim.user.userId}`,
      details: { reason: 'code_reused', actor: 'service:access-control', request_id: expect.any(String) },
    })
  })

  test('of two uses at once one succeeds at most', async () => {
    const { pkce, code } = await granted()
    const answers = await Promise.all([1, 2, 3].map(() => redeem(url(), clientId, code, pkce)))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
  })

  test('is bound to client, redirect URI, verifier and resource', async () => {
    const { pkce, code } = await granted()
    const other = await newClient(url())
    const faults: [string, Record<string, string | undefined>, (string | number)[]][] = [
      ['client', { client_id: other }, invalidGrant],
      ['unknown client', { client_id: `${clientId}x` }, [401, 'invalid_client']],
      ['no client', { client_id: undefined }, [400, 'invalid_request']],
      ['redirect URI', { redirect_uri: `${callback}/x` }, invalidGrant],
      ['port', { redirect_uri: callback.replace('4567', '4568') }, invalidGrant],
      ['no redirect URI', { redirect_uri: undefined }, [400, 'invalid_request']],
      ['verifier', { code_verifier: newPkce().verifier }, invalidGrant],
      ['the challenge as verifier', { code_verifier: pkce.challenge }, invalidGrant],
      ['no verifier', { code_verifier: undefined }, [400, 'invalid_request']],
      ['resource', { resource: url() }, [400, 'invalid_target']],
      ['foreign resource', { resource: 'https://elsewhere.example' }, [400, 'invalid_target']],
      ['altered code', { code: `${code.slice(0, -2)}AA` }, invalidGrant],
    ]
    for (const [name, changes, expected] of faults) {
      expect([name, errorOf(await redeem(url(), clientId, code, pkce, changes))]).toEqual([name, expected])
    }
    const wrongTenant = await tokenRequest(
      url(),
      {
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        redirect_uri: callback,
        code_verifier: pkce.verifier,
      },
      { 'x-service-tenant': 'globex' },
    )
    expect(wrongTenant.status).toBe(403)
    expect((await redeem(url(), clientId, code, pkce, { resource: `${url()}/mcp` })).status).toBe(200)
  })

  test('expires after a minute', async () => {
    const { pkce, code } = await granted()
    moveClock(61)
    expect(errorOf(await redeem(url(), clientId, code, pkce))).toEqual(invalidGrant)
  })

  test('is no refresh token, nor a refresh token a code', async () => {
    const { pkce, code } = await granted()
    expect(errorOf(await refresh(url(), clientId, code))).toEqual(invalidGrant)
    const { body } = await redeem(url(), clientId, code, pkce)
    expect(errorOf(await redeem(url(), clientId, body.refresh_token, pkce))).toEqual(invalidGrant)
    for (const token of [code, body.refresh_token]) expect((await me(token)).status).toBe(401)
    const own = await kim.browser.token()
    expect(errorOf(await refresh(url(), clientId, own.body.refresh_token))).toEqual(invalidGrant)
    const asPerson = await kim.browser.refresh(body.refresh_token)
    expect(asPerson.status).toBe(401)
  })

  test('gives nothing once the person is deactivated or has signed out everywhere', async () => {
    const lee = await signIn(hub, 'acme', { role: 'member' })
    const pkce = newPkce()
    const request = requestOf(clientId, pkce)
    const first = await codeFor(lee, request, ['telemetry:read'])
    await lee.browser.call('POST', '/api/v1/auth/logout', { body: { everywhere: true } })
    expect(errorOf(await redeem(url(), clientId, first, pkce))).toEqual(invalidGrant)
    const again = await signIn(hub, 'acme', { email: lee.user.email })
    const second = await codeFor(again, request, ['telemetry:read'])
    await hub.call('acme', 'POST', `/api/v1/roster/users/${lee.user.userId}:deactivate`, { body: {} })
    expect(errorOf(await redeem(url(), clientId, second, pkce))).toEqual(invalidGrant)
  })
})

describe('a refresh token', () => {
  test('rotates, narrows on request, and never widens', async () => {
    const { clientId: client, refreshToken } = await connect(kim, ['hub:read', 'telemetry:read'])
    const upgrade = await refresh(url(), client, refreshToken, { scope: 'hub:read hub:write' })
    expect(errorOf(upgrade)).toEqual([400, 'invalid_scope'])
    const narrow = await refresh(url(), client, refreshToken, { scope: 'hub:read' })
    expect(narrow.body.scope).toBe('hub:read')
    expect(narrow.body.refresh_token).not.toBe(refreshToken)
    const whole = await refresh(url(), client, narrow.body.refresh_token, { resource: `${url()}/mcp` })
    expect(whole.body.scope).toBe('hub:read telemetry:read')
    const foreign = await refresh(url(), client, whole.body.refresh_token, { resource: url() })
    expect(errorOf(foreign)).toEqual([400, 'invalid_target'])
  })

  test('used again a moment later gives the same successor; later it ends the authorization', async () => {
    const { clientId: client, refreshToken } = await connect(kim)
    const first = await refresh(url(), client, refreshToken)
    const again = await refresh(url(), client, refreshToken)
    expect(again.body.refresh_token).toBe(first.body.refresh_token)
    moveClock(21)
    expect(errorOf(await refresh(url(), client, refreshToken))).toEqual(invalidGrant)
    expect((await me(first.body.access_token)).status).toBe(401)
    expect(errorOf(await refresh(url(), client, first.body.refresh_token))).toEqual(invalidGrant)
    expect(await lastEvent('auth.refresh_reuse_detected')).toMatchObject({ details: { client_name: 'Agent One' } })
    expect(await lastEvent('auth.client_revoked')).toMatchObject({
      details: { reason: 'refresh_reused', actor: 'service:access-control', address: expect.any(String) },
    })
  })

  test('belongs to its client', async () => {
    const { refreshToken } = await connect(kim)
    expect(errorOf(await refresh(url(), clientId, refreshToken))).toEqual(invalidGrant)
  })

  test('follows the role of the person', async () => {
    await signIn(hub, 'acme', { role: 'admin' })
    const pat = await signIn(hub, 'acme', { role: 'admin' })
    const { clientId: client, token, refreshToken } = await connect(pat, ['hub:read', 'hub:write', 'telemetry:read'])
    const role = { body: { role: 'member' } }
    expect((await hub.call('acme', 'PUT', `/api/v1/roster/users/${pat.user.userId}/role`, role)).status).toBe(200)
    expect((await me(token)).status).toBe(401)
    const shrunk = await refresh(url(), client, refreshToken)
    expect(shrunk.body.scope).toBe('telemetry:read')
    const none = await refresh(url(), client, shrunk.body.refresh_token, { scope: 'hub:read' })
    expect(errorOf(none)).toEqual([400, 'invalid_scope'])
  })

  test('ends with the person, and after eight hours', async () => {
    const sam = await signIn(hub, 'acme', { role: 'member' })
    const left = await connect(sam, ['telemetry:read'])
    await hub.call('acme', 'POST', `/api/v1/roster/users/${sam.user.userId}:deactivate`, { body: {} })
    expect((await me(left.token)).status).toBe(401)
    expect(errorOf(await refresh(url(), left.clientId, left.refreshToken))).toEqual(invalidGrant)
    const { clientId: client, refreshToken } = await connect(kim)
    moveClock(8 * 3600 - 60)
    const last = await refresh(url(), client, refreshToken)
    expect(last.body.expires_in).toBeLessThanOrEqual(61)
    moveClock(62)
    expect(errorOf(await refresh(url(), client, last.body.refresh_token))).toEqual(invalidGrant)
  })
})

test('a client of a tenant with an address of its own is unknown elsewhere, and the other way round', async () => {
  const own = `http://localhost:${new URL(url()).port}`
  const tenant = { slug: 'own-cloud', mode: 'C', adminEmail: 'a@own.example', baseUrl: own } as const
  await hub.modules.tenants.administration.create(tenant, operator)
  const ofTenant = await newClient(own)
  const pkce = newPkce()
  const statuses = async (base: string, id: string) =>
    (await authorize(new Browser(base), requestOf(id, pkce), { 'sec-fetch-site': 'none' })).status
  expect([await statuses(own, ofTenant), await statuses(url(), ofTenant)]).toEqual([302, 400])
  expect([await statuses(own, clientId), await statuses(url(), clientId)]).toEqual([400, 302])
  const { pkce: others, code } = await granted()
  expect(errorOf(await redeem(own, clientId, code, others))).toEqual([401, 'invalid_client'])
  expect(errorOf(await redeem(own, ofTenant, code, others))).toEqual(invalidGrant)
})

test('the token endpoint takes no secret for these grants', async () => {
  const { pkce, code } = await granted()
  const fields = { grant_type: 'authorization_code', client_id: clientId, code, redirect_uri: callback }
  const basic = { authorization: `Basic ${Buffer.from(`${clientId}:x`).toString('base64')}` }
  const answer = await tokenRequest(url(), { ...fields, code_verifier: pkce.verifier }, basic)
  expect(errorOf(answer)).toEqual([400, 'invalid_request'])
})

test('guesses are counted against the address and the client, never the tenant', async () => {
  const own = await startHub({ limitFactor: 1 })
  const { body } = await register(own.baseUrl)
  const statuses: number[] = []
  for (let call = 0; call < 12; call += 1) {
    statuses.push((await refresh(own.baseUrl, body.client_id, 'x')).status)
  }
  expect(statuses).toEqual([...Array(10).fill(400), 429, 429])
  const person = await signIn(own, 'acme', { role: 'analyst' })
  expect((await connect(person)).token).toEqual(expect.any(String))
  await own.stop()
})
