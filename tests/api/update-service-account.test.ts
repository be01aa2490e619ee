import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Scope, scopeNames } from '../../contract/scopes.ts'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
let path: string
let credentials: { client_id: string; client_secret: string }
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())
beforeEach(async () => {
  const { client_id, client_secret } = await hub.account('acme', ['hub:read', 'telemetry:read'])
  credentials = { client_id, client_secret }
  path = `/api/v1/service-accounts/${client_id}`
})

const change = (body: unknown) => hub.call('acme', 'PATCH', path, { body })
const changesOf = async () =>
  (await hub.events('acme')).filter(
    ({ subject, details }) =>
      subject === `service_account:${credentials.client_id}` && details.change === 'service_account_changed',
  )

test('what is sent changes, the rest stays, and null takes a limit away', async () => {
  const limits = { expires_at: '2099-01-31T12:00:00.000000Z', allowed_addresses: ['127.0.0.0/8'] }
  const first = await change({ name: 'Renamed', ...limits })
  expect(first.status).toBe(200)
  expect(first.body).toMatchObject({ name: 'Renamed', scopes: ['hub:read', 'telemetry:read'], ...limits })
  const second = await change({ scopes: ['hub:read', 'hub:write'], expires_at: null })
  expect(second.body).toMatchObject({ name: 'Renamed', scopes: ['hub:read', 'hub:write'] })
  expect(second.body).not.toHaveProperty('expires_at')
  expect(second.body.allowed_addresses).toEqual(['127.0.0.0/8'])
  expect((await change({ allowed_addresses: null })).body).not.toHaveProperty('allowed_addresses')
  expect((await hub.call('acme', 'GET', path)).body).toEqual({ ...second.body, allowed_addresses: undefined })
})

test('each change is told once, with what differs before and after', async () => {
  await change({ name: 'Told', scopes: ['hub:read'] })
  await change({ name: 'Told', scopes: ['hub:read'] })
  await change({ allowed_addresses: ['127.0.0.1'] })
  await change({})
  expect((await changesOf()).map(({ details: { before, after } }) => [before, after])).toEqual([
    [
      { name: expect.stringMatching(/^account-/), scopes: ['hub:read', 'telemetry:read'] },
      { name: 'Told', scopes: ['hub:read'] },
    ],
    [{ allowed_addresses: null }, { allowed_addresses: ['127.0.0.1/32'] }],
  ])
})

describe('the tokens that are about', () => {
  const use = async (token: string) => (await hub.call('acme', 'GET', '/api/v1/hub/records', { token })).status
  const newToken = async (): Promise<string> => (await hub.requestToken(credentials)).body.access_token

  test.each<[string, Record<string, unknown>]>([
    ['fewer scopes', { scopes: ['hub:read'] }],
    ['other scopes', { scopes: ['hub:read', 'hub:write'] }],
    ['an end', { expires_at: '2099-01-01T00:00:00Z' }],
    ['a list of addresses', { allowed_addresses: ['127.0.0.1'] }],
  ])('end with %s, and a new one is good at once', async (_name, body) => {
    const token = await newToken()
    expect(await use(token)).toBe(200)
    expect((await change(body)).status).toBe(200)
    // In this process without delay; elsewhere within five seconds (revocation tests).
    expect(await use(token)).toBe(401)
    expect(await use(await newToken())).toBe(200)
  })

  test.each<[string, Record<string, unknown>]>([
    ['another name', { name: 'Only the name' }],
    ['more scopes', { scopes: ['telemetry:read', 'hub:write', 'hub:read'] satisfies Scope[] }],
    ['no change', { scopes: ['hub:read', 'telemetry:read'] }],
  ])('stay with %s', async (_name, body) => {
    const token = await newToken()
    expect((await change(body)).status).toBe(200)
    expect(await use(token)).toBe(200)
  })
})

test.each([
  ['a name of spaces', { name: ' ' }, '/name'],
  ['no scopes', { scopes: [] }, '/scopes'],
  ['an unknown scope', { scopes: ['root'] }, '/scopes/0'],
  ['scopes of null', { scopes: null }, '/scopes'],
  ['an end that has passed', { expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
  ['an address that is none', { allowed_addresses: ['fe80::1%eth0'] }, '/allowed_addresses/0'],
  ['a member of the service', { disabled_at: null }, '/disabled_at'],
])('%s is refused with a pointer and changes nothing', async (_name, body, pointer) => {
  const before = (await hub.call('acme', 'GET', path)).body
  const answer = await change(body)
  expect(answer.status).toBe(400)
  expect(answer.body.errors).toContainEqual({ pointer, detail: expect.any(String) })
  expect((await hub.call('acme', 'GET', path)).body).toEqual(before)
})

test('one that is disabled does not change, one of another tenant is not found', async () => {
  const foreign = await hub.call('globex', 'PATCH', path, { body: { name: 'Theirs' } })
  const unknown = await hub.call('globex', 'PATCH', `${path}x`, { body: { name: 'Theirs' } })
  expect([foreign.status, unknown.status, foreign.body.detail]).toEqual([404, 404, unknown.body.detail])
  await hub.call('acme', 'DELETE', path)
  const { status, body } = await change({ name: 'Again' })
  expect([status, body.type]).toEqual([409, `${hub.url}/errors/concurrent-modification`])
})

test('without token, scope or tenant nothing changes', async () => {
  const scopes = scopeNames.filter((scope) => scope !== 'roster:write')
  expect(await commonRejections(hub, 'PATCH', path, { scopes, body: { name: 'x' } })).toEqual(allRefused)
  expect(await changesOf()).toEqual([])
})
