import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../contract/operations.ts'
import { scopeNames } from '../../contract/scopes.ts'
import { operator } from '../auth/auth-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

const own = 'http://customer.localhost'
const host = 'customer.localhost'
/** Of a second tenant with an address of its own. */
const otherHost = 'other.localhost'

let hub: TestHub
let customerToken: string
let acmeToken: string
beforeAll(async () => {
  hub = await startHub({ settings: { HUB_OPERATOR_TOKEN: 'o'.repeat(40) } })
  const { administration } = hub.modules.tenants
  for (const slug of ['customer', 'other']) {
    const baseUrl = `http://${slug}.localhost`
    await administration.create({ slug, mode: 'C', adminEmail: `admin@${slug}.example`, baseUrl }, operator)
  }
  customerToken = await tokenOf('customer', host)
  acmeToken = await tokenOf('acme', new URL(hub.baseUrl).host)
  const archetypes = { archetypes: [{ archetype_id: 'analyst' }] }
  await ask('PUT', '/api/v1/roster/archetypes', { body: archetypes })
  const skill = { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' }
  await ask('POST', '/api/v1/hub/records', { body: skill })
})
afterAll(() => hub.stop())

async function tokenOf(slug: string, at: string): Promise<string> {
  const tenant = (await hub.modules.tenants.directory.find(slug))!
  const { serviceAccounts } = hub.modules.auth
  const account = await serviceAccounts.create(tenant, { name: 'mode c', scopes: scopeNames }, operator)
  const { client_id, client_secret } = account
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const answer = await hub.app.inject({
    method: 'POST',
    url: '/api/v1/oauth/token',
    headers: { host: at, 'content-type': 'application/x-www-form-urlencoded' },
    payload: form.toString(),
  })
  return answer.json().access_token
}

interface Sent {
  at?: string
  tenant?: string
  token?: string | null
  body?: unknown
  headers?: Record<string, string>
}

/** As the customer at its own address, unless something else is said. */
async function ask(method: string, url: string, sent: Sent = {}) {
  const { at = host, tenant = 'customer', token = customerToken, body, headers = {} } = sent
  return hub.call('acme', method, url, {
    token,
    ...(body === undefined ? {} : { body }),
    headers: { host: at, 'x-service-tenant': tenant, ...headers },
  })
}

const byToken = Object.entries(operations).filter(([, { access }]) => access.kind === 'token')

describe('every operation that takes a token', () => {
  test('serves no other tenant at that address, nor its tenant at the common one, and answers in its name', async () => {
    const wrong: string[] = []
    const common = { at: new URL(hub.baseUrl).host }
    for (const [id, { method, path }] of byToken) {
      const url = path.replaceAll(/\{\w+\}/g, 'x')
      const body = method === 'GET' || method === 'DELETE' ? undefined : {}
      const foreign = await ask(method, url, { tenant: 'acme', token: acmeToken, body })
      const swapped = await ask(method, url, { token: acmeToken, body })
      const nobody = await ask(method, url, { token: null, body })
      const atCommon = await ask(method, url, { ...common, body })
      const seen = [foreign, swapped, nobody, atCommon].map((answer) => `${answer.status} ${answer.body?.type}`)
      const expected = [
        ...['403 invalid-tenant', '403 invalid-tenant', '401 authentication-failed'].map((each) =>
          each.replace(' ', ` ${own}/errors/`),
        ),
        `403 ${hub.baseUrl}/errors/invalid-tenant`,
      ]
      if (JSON.stringify(seen) !== JSON.stringify(expected)) wrong.push(`${id}: ${seen.join(', ')}`)
    }
    expect(byToken.length).toBeGreaterThan(50)
    expect(wrong).toEqual([])
  })

  test('of another own address, its tenant is a stranger too', async () => {
    for (const path of ['/api/v1/hub/records', '/api/v1/tenant', '/api/v1/observability/tenant-health']) {
      const answer = await ask('GET', path, { at: otherHost })
      expect([answer.status, answer.body.type]).toEqual([403, 'http://other.localhost/errors/invalid-tenant'])
    }
  })
})

test('tokens are issued in the name of the address, and good at no other tenant’s', async () => {
  expect(decodeJwt(customerToken)).toMatchObject({ iss: own, aud: own, tenant: 'customer' })
  expect((await ask('GET', '/api/v1/hub/records')).status).toBe(200)
})

test('problems of one event, of a body and of a path carry the address', async () => {
  const batch = await ask('POST', '/api/v1/telemetry/events:batch', {
    body: { events: [event(), event({ tokens_in: -1 })] },
  })
  expect([batch.status, batch.body.errors[0].type]).toEqual([201, `${own}/errors/validation-failed`])
  const content = await ask('POST', '/api/v1/telemetry/events', { body: event({ metadata: {} }) })
  expect(content.body.type).toBe(`${own}/errors/content-not-allowed`)
  expect((await ask('GET', '/no/such/path')).body.type).toBe(`${own}/errors/not-found`)
  expect((await ask('PATCH', '/api/v1/hub/records')).body.type).toBe(`${own}/errors/method-not-allowed`)
  const future = { accept: 'application/vnd.service.v2+json' }
  expect((await ask('GET', '/api/v1/hub/records', { headers: future })).body.type).toBe(
    `${own}/errors/version-not-available`,
  )
})

test('public documents and pages name that address or none', async () => {
  const metadata = await ask('GET', '/.well-known/oauth-authorization-server', { token: null })
  expect(metadata.body).toMatchObject({ issuer: own, jwks_uri: `${own}/.well-known/jwks.json` })
  const described = await ask('GET', '/v1/openapi.json', { token: null })
  expect(described.body.servers).toEqual([{ url: '/' }])
  const paths = ['/.well-known/jwks.json', '/.well-known/provenance-keys.json', '/v1/health', '/errors']
  for (const path of [...paths, '/errors/content-not-allowed', '/sign-in', '/reference', '/v1/openapi.json']) {
    const answer = await ask('GET', path, { token: null, headers: { accept: 'text/html' } })
    expect([path, answer.status]).toEqual([path, 200])
    expect(answer.text, path).not.toContain(new URL(hub.baseUrl).host)
  }
})

test('configuration that others are given names that address', async () => {
  const scim = await ask('POST', '/api/v1/identity/scim/configure', { body: { mode: 'push', group_archetype_map: [] } })
  expect([scim.status, scim.body.scim_base_url]).toEqual([200, `${own}/scim/v2/customer`])
  const welcome = await hub.modules.tenants.administration.welcomeLink('customer')
  expect(new URL(welcome.welcome.url).origin).toBe(own)
})

describe('SCIM', () => {
  const configure = { mode: 'push', group_archetype_map: [] }

  test('is that of the tenant of the address alone', async () => {
    const common = new URL(hub.baseUrl).host
    const sent = { at: common, tenant: 'acme', token: acmeToken, body: configure }
    const { bearer_token: token } = (await ask('POST', '/api/v1/identity/scim/configure', sent)).body
    const users = (at: string, bearer: string | null, slug = 'acme') =>
      ask('GET', `/scim/v2/${slug}/Users`, { at, token: bearer })
    expect((await users(common, token)).status).toBe(200)
    const foreign = await users(host, token)
    const unknown = await users(host, 'wrong', 'nobody')
    expect(foreign.status).toBe(401)
    expect([foreign.status, foreign.body]).toEqual([unknown.status, unknown.body])
    const { body } = await ask('POST', '/api/v1/identity/scim:rotate-token', { body: {} })
    expect((await users(host, body.bearer_token, 'customer')).status).toBe(200)
    const atCommon = await users(common, body.bearer_token, 'customer')
    expect([atCommon.status, atCommon.body]).toEqual([unknown.status, unknown.body])
  })

  test('names the address in what it answers', async () => {
    const { body } = await ask('POST', '/api/v1/identity/scim:rotate-token', { body: {} })
    const user = {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'kim@customer.example',
      active: true,
    }
    const made = await ask('POST', '/scim/v2/customer/Users', {
      token: body.bearer_token,
      body: user,
      headers: { 'content-type': 'application/scim+json' },
    })
    expect(made.status).toBe(201)
    expect(made.body.meta.location).toBe(`${own}/scim/v2/customer/Users/${made.body.id}`)
  })
})

test('people sign in, and have their sessions, where their tenant is served', async () => {
  const at = { 'content-type': 'application/json' }
  const common = new URL(hub.baseUrl).host
  const logIn = (to: string, tenant: string) =>
    ask('POST', '/api/v1/auth/mock-login', {
      at: to,
      tenant,
      token: null,
      body: { email: `kim@${tenant}.example`, tenant },
      headers: at,
    })
  expect((await logIn(host, 'acme')).status).toBe(403)
  expect((await logIn(common, 'customer')).status).toBe(403)
  const cookieOf = async (to: string, tenant: string) => {
    const signedIn = await logIn(to, tenant)
    expect(signedIn.status).toBe(200)
    return [signedIn.headers['set-cookie']]
      .flat()
      .map((each) => String(each).split(';')[0])
      .join('; ')
  }
  const statusAt = async (to: string, tenant: string, path: string, cookie: string) => {
    const answer = await ask('GET', path, { at: to, tenant, token: null, headers: { cookie } })
    return answer.status
  }
  const [ofAcme, ofCustomer] = [await cookieOf(common, 'acme'), await cookieOf(host, 'customer')]
  for (const path of ['/api/v1/auth/me', '/api/v1/auth/sessions']) {
    expect([path, await statusAt(common, 'acme', path, ofAcme)]).toEqual([path, 200])
    expect([path, await statusAt(host, 'acme', path, ofAcme)]).toEqual([path, 401])
    expect([path, await statusAt(host, 'customer', path, ofCustomer)]).toEqual([path, 200])
    expect([path, await statusAt(common, 'customer', path, ofCustomer)]).toEqual([path, 401])
  }
})

test('the operator is not served there', async () => {
  const path = '/api/v1/operator/tenants'
  expect((await ask('GET', path, { token: 'o'.repeat(40) })).status).toBe(401)
})
