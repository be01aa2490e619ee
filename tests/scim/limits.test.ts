import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { connectScim, errorSchema, type ScimClient, scimClient } from './scim-client.ts'

/** Half of a per cent of the limits: 3 requests a minute for a token, 25 for a tenant. */
const limitFactor = 0.005

let hub: TestHub
let acme: ScimClient
beforeAll(async () => {
  hub = await startHub({ limitFactor })
  acme = await connectScim(hub, 'acme')
})
afterAll(() => hub.stop())

describe('rate limits', () => {
  test('a directory that asks too often is told when to come back, and nobody else is', async () => {
    const globex = await connectScim(hub, 'globex')
    const answers = []
    for (let at = 0; at < 4; at++) answers.push(await acme.get('/Users?count=0'))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    const { body, headers } = answers[3] ?? {}
    expect(body).toMatchObject({ schemas: [errorSchema], status: '429', detail: expect.any(String) })
    expect(Number(headers?.['retry-after'])).toBeGreaterThan(0)
    expect(headers?.['content-type']).toBe('application/scim+json')
    expect((await globex.get('/Users?count=0')).status).toBe(200)
  })

  test('wrong tokens are counted against who sends them, and never keep the right one out', async () => {
    const cmode = await connectScim(hub, 'cmode')
    const wrong = scimClient(hub, 'cmode', 'wrong')
    const statuses = []
    for (let at = 0; at < 5; at++) statuses.push((await wrong.get('/Users')).status)
    expect(statuses).toEqual([401, 401, 401, 429, 429])
    expect((await cmode.get('/Users?count=0')).status).toBe(200)
  })
})

describe('a tenant’s own address', () => {
  test('serves its SCIM alone', async () => {
    await hub.modules.tenants.administration.create(
      { slug: 'ownhost', mode: 'C', adminEmail: 'admin@ownhost.example', baseUrl: 'http://ownhost.localhost' },
      { operator: 'test' },
    )
    const at = async (host: string, method: 'GET' | 'POST', url: string, token: string, payload?: object) => {
      const headers = {
        host,
        authorization: `Bearer ${token}`,
        'x-service-tenant': 'ownhost',
        accept: 'application/scim+json',
      }
      const { statusCode, body } = await hub.app.inject({ method, url, headers, ...(payload && { payload }) })
      return { status: statusCode, body: JSON.parse(body) }
    }
    const own = 'ownhost.localhost'
    const login = { email: 'admin@ownhost.example', tenant: 'ownhost' }
    const { access_token: admin } = (await at(own, 'POST', '/api/v1/auth/mock-login', 'none', login)).body
    const configured = await at(own, 'POST', '/api/v1/identity/scim/configure', admin, {
      mode: 'push',
      group_archetype_map: [],
    })
    expect(configured.body.scim_base_url).toBe('http://ownhost.localhost/scim/v2/ownhost')
    const { bearer_token: token } = configured.body

    const served = await at(own, 'GET', '/scim/v2/ownhost/ServiceProviderConfig', token)
    expect([served.status, served.body.meta?.location]).toEqual([
      200,
      'http://ownhost.localhost/scim/v2/ownhost/ServiceProviderConfig',
    ])
    const other = await at(own, 'GET', '/scim/v2/acme/ServiceProviderConfig', acme.token)
    expect([other.status, other.body.schemas]).toEqual([401, [errorSchema]])
  })
})

test('the log has method, address pattern and tenant, and metrics the name of the protocol', async () => {
  await acme.get('/Users/secret-looking-id')
  const line = hub.logLines.findLast((each) => each.includes('/scim/v2/'))
  expect(JSON.parse(line ?? '{}')).toMatchObject({ method: 'GET', route: '/scim/v2/:tenant/*', msg: 'request' })
  expect(line).not.toContain('secret-looking-id')
})
