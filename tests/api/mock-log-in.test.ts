import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventsOf } from '../auth/auth-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const path = '/api/v1/auth/mock-login'
const email = 'kim@acme.example'

let hub: TestHub
let kim: string
beforeAll(async () => {
  hub = await startHub()
  const body = { email, role: 'analyst' }
  kim = (await hub.call('acme', 'POST', '/api/v1/roster/users', { body })).body.user_id
})
afterAll(() => hub.stop())

const logIn = (body: unknown, headers: Record<string, string | undefined> = {}) =>
  hub.call('acme', 'POST', path, { token: null, body, headers: { 'x-service-tenant': undefined, ...headers } })

test('signs in as a real login does: tokens, both cookies, the event', async () => {
  const { status, body, headers } = await logIn({ email, tenant: 'acme' })
  expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
  expect(Object.keys(body).sort()).toEqual([
    'access_token',
    'expires_in',
    'refresh_expires_in',
    'refresh_token',
    'token_type',
  ])
  expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 300 })
  expect(body.refresh_expires_in).toBeGreaterThan(8 * 3600 - 60)
  const claims = decodeJwt(body.access_token)
  expect(claims).toMatchObject({ sub: kim, tenant: 'acme', scope: 'hub:read telemetry:read' })
  const cookies = [headers['set-cookie']].flat().map(String)
  const refresh = cookies.find((line) => line.startsWith('__Secure-service_refresh='))
  const session = cookies.find((line) => line.startsWith('service_session='))
  expect(cookies).toHaveLength(2)
  for (const line of cookies) expect(line).toMatch(/; HttpOnly; Secure; SameSite=Strict$/)
  expect(session).toContain('; Path=/;')
  expect(refresh).toContain('; Path=/api/v1/auth;')

  const records = await hub.call('acme', 'GET', '/api/v1/hub/records', { token: body.access_token })
  expect(records.status).toBe(200)
  const cookie = cookies.map((line) => line.split(';')[0]).join('; ')
  const refreshed = await hub.call('acme', 'POST', '/api/v1/auth/token', {
    token: null,
    headers: { cookie },
    body: { grant_type: 'refresh_token', refresh_token: body.refresh_token },
  })
  expect(refreshed.status).toBe(200)
  const login = (await eventsOf(hub.test.database, 'acme')).findLast(({ event_kind }) => event_kind === 'auth.login')
  expect(login).toMatchObject({ subject: `user:${kim}`, details: { method: 'mock' } })
})

test('the tenant may be named by the header, as in other calls; a header that contradicts the body is refused', async () => {
  const byHeader = await logIn({ email }, { 'x-service-tenant': 'acme' })
  expect([byHeader.status, decodeJwt(byHeader.body.access_token).tenant]).toEqual([200, 'acme'])
  const contradicting = await logIn({ email, tenant: 'acme' }, { 'x-service-tenant': 'globex' })
  expect(contradicting).toMatchObject({ status: 403, body: { tenant_slug: 'globex' } })
})

test('people of the roster keep their role; anybody else becomes a member', async () => {
  const scopes = async (who: string) => {
    const { body } = await logIn({ email: who, tenant: 'acme' })
    return decodeJwt<{ scope: string }>(body.access_token).scope
  }
  expect(await scopes('KIM@ACME.example')).toBe('hub:read telemetry:read')
  expect(await scopes('new@elsewhere.example')).toBe('telemetry:read')
  const { body } = await hub.call('acme', 'GET', '/api/v1/roster/users?email=new@elsewhere.example')
  expect(body.items).toMatchObject([{ role: 'member' }])
})

test('a person who was deactivated is refused, and the tenant is told', async () => {
  const body = { email: 'gone@acme.example' }
  const { user_id: userId } = (await hub.call('acme', 'POST', '/api/v1/roster/users', { body })).body
  await hub.call('acme', 'POST', `/api/v1/roster/users/${userId}:deactivate`)
  const answer = await logIn({ ...body, tenant: 'acme' })
  expect([answer.status, answer.body.type.split('/').at(-1)]).toEqual([401, 'authentication-failed'])
  expect(answer.headers['set-cookie']).toBeUndefined()
  await hub.modules.denials.settled()
  const failed = (await eventsOf(hub.test.database, 'acme')).findLast(
    (event) => event.event_kind === 'auth.login_failed',
  )
  expect(failed).toMatchObject({ subject: 'tenant:acme', details: { reason: 'deactivated', method: 'mock' } })
})

test.each([
  [{}, ['/email']],
  [{ email: 'kim', tenant: 'Acme!' }, ['/email', '/tenant']],
  [{ email: 'kim@acme.example/x', tenant: 'acme' }, ['/email']],
  [{ email, tenant: 'acme', role: 'admin' }, ['/role']],
  [{ email: 7 }, ['/email']],
])('%j is a bad request at %j', async (body, pointers) => {
  const answer = await logIn(body)
  expect([answer.status, answer.body.type.split('/').at(-1)]).toEqual([400, 'validation-failed'])
  expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual(pointers)
})

describe('the tenant', () => {
  test('that does not exist is refused', async () => {
    const { status, body } = await logIn({ email, tenant: 'nowhere' })
    expect([status, body.type.split('/').at(-1), body.tenant_slug]).toEqual([403, 'invalid-tenant', 'nowhere'])
  })

  test('must be named where there are several and none is the demo', async () => {
    const { status, body } = await logIn({ email })
    expect([status, body.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([400, ['/tenant']])
  })

  test('is that of the first start where it is there, in development', async () => {
    const demo = { slug: 'demo', mode: 'A' as const, adminEmail: 'admin@demo.example' }
    await hub.modules.tenants.administration.create(demo, { operator: 'test' })
    const { status, body } = await logIn({ email: 'admin@demo.example' })
    expect(status).toBe(200)
    const claims = decodeJwt<{ tenant: string; scope: string }>(body.access_token)
    expect(claims.tenant).toBe('demo')
    // Whom the tenant was made for becomes its first administrator.
    expect(claims.scope).toContain('connector:admin')
  })

  test('of a tenant’s own address is meant there, and no other is served', async () => {
    const customer = { slug: 'customer', mode: 'C' as const, adminEmail: 'a@c.example', baseUrl: 'http://c.localhost' }
    await hub.modules.tenants.administration.create(customer, { operator: 'test' })
    const { status, body } = await logIn({ email }, { host: 'c.localhost' })
    expect([status, decodeJwt<{ tenant: string }>(body.access_token).tenant]).toEqual([200, 'customer'])
    expect((await logIn({ email, tenant: 'acme' }, { host: 'c.localhost' })).status).toBe(403)
  })
})

test('pages of other sites cannot sign anybody in', async () => {
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const { status, body, headers: sent } = await logIn({ email, tenant: 'acme' }, headers)
    expect([status, body.type.split('/').at(-1)]).toEqual([403, 'cross-site-request'])
    expect(sent['set-cookie']).toBeUndefined()
  }
})
