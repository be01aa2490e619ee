import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

const path = '/api/v1/service-accounts'
const account = { name: 'Nightly import', scopes: ['hub:read', 'telemetry:write'] }
const create = (body: unknown) => hub.call('acme', 'POST', path, { body })

test('a service account has a client id, and a secret that is shown this once and opens the API', async () => {
  const { status, headers, body } = await create(account)
  expect(status).toBe(201)
  expect(body).toEqual({
    client_id: expect.stringMatching(/^[A-Za-z0-9]{26}$/),
    client_secret: expect.stringMatching(/^[A-Za-z0-9]{48}$/),
    tenant: 'acme',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    ...account,
  })
  expect(headers.get('location')).toBe(`${path}/${body.client_id}`)
  expect(headers.get('cache-control')).toBe('no-store')
  const shown = await hub.call('acme', 'GET', headers.get('location') ?? '')
  expect(shown.status).toBe(200)
  expect(JSON.stringify(shown.body)).not.toContain(body.client_secret)
  const token = await hub.requestToken({ client_id: body.client_id, client_secret: body.client_secret })
  expect(token.body).toMatchObject({ scope: 'hub:read telemetry:write', expires_in: 3600 })
  const { access_token } = token.body
  expect((await hub.call('acme', 'GET', '/api/v1/hub/records', { token: access_token })).status).toBe(200)
})

test('an end and a list of addresses are kept in one form', async () => {
  const { status, body } = await create({
    ...account,
    scopes: ['hub:read', 'hub:read'],
    expires_at: '2099-01-31T13:00:00+01:00',
    allowed_addresses: ['203.0.113.7', '10.1.2.3/8', '2001:DB8:0::1/32', '::ffff:192.0.2.0/120', '203.0.113.7/32'],
  })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    scopes: ['hub:read'],
    expires_at: '2099-01-31T12:00:00.000000Z',
    allowed_addresses: ['203.0.113.7/32', '10.0.0.0/8', '2001:db8::/32', '192.0.2.0/24'],
  })
})

test('the tenant is told, without the secret', async () => {
  const { body } = await create({ ...account, name: 'Told', expires_at: '2099-01-31T12:00:00Z' })
  const events = (await hub.events('acme')).filter(({ subject }) => subject === `service_account:${body.client_id}`)
  expect(events).toEqual([
    expect.objectContaining({
      event_kind: 'tenant.config_changed',
      details: {
        change: 'service_account_created',
        before: null,
        after: { name: 'Told', scopes: account.scopes, expires_at: '2099-01-31T12:00:00.000000Z' },
        actor: expect.stringMatching(/^sa[A-Za-z0-9]{24}$/),
        address: '127.0.0.1',
        request_id: expect.any(String),
        row_digests: { 'hub.service_accounts': expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    }),
  ])
  const everything = JSON.stringify([await hub.events('acme'), hub.hub.logLines])
  expect(everything).not.toContain(body.client_secret)
})

test.each([
  ['no name', { name: undefined }, '/name'],
  ['an empty name', { name: '' }, '/name'],
  ['a long name', { name: 'x'.repeat(101) }, '/name'],
  ['a name with a line break', { name: 'a\nb' }, '/name'],
  ['no scopes', { scopes: [] }, '/scopes'],
  ['an unknown scope', { scopes: ['hub:read', 'root'] }, '/scopes/1'],
  ['an end that is none', { expires_at: 'tomorrow' }, '/expires_at'],
  ['an end that has passed', { expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
  ['no end but null', { expires_at: null }, '/expires_at'],
  ['an empty list', { allowed_addresses: [] }, '/allowed_addresses'],
  ['51 addresses', { allowed_addresses: Array.from({ length: 51 }, (_, i) => `10.0.0.${i}`) }, '/allowed_addresses'],
  ['an address that is none', { allowed_addresses: ['10.0.0.1', '10.0.0.256'] }, '/allowed_addresses/1'],
  ['a member it does not have', { client_id: 'mine' }, '/client_id'],
])('%s is refused with a pointer', async (_name, wrong, pointer) => {
  const { status, body } = await create({ ...account, ...wrong })
  expect(status).toBe(400)
  expect(body.type).toBe(`${hub.url}/errors/validation-failed`)
  expect(body.errors).toEqual([{ pointer, detail: expect.any(String) }])
})

test('without token, scope or tenant nothing is made', async () => {
  const before = (await hub.call('acme', 'GET', `${path}?limit=1000`)).body.items.length
  const scopes = scopeNames.filter((scope) => scope !== 'hub:purge')
  expect(await commonRejections(hub, 'POST', path, { scopes, body: account })).toEqual(allRefused)
  const after = (await hub.call('acme', 'GET', `${path}?limit=1000`)).body.items.length
  // The one that asked with too few scopes.
  expect(after - before).toBe(1)
})
