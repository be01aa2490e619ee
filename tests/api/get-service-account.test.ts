import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
let path: string
const account = { name: 'Reader', scopes: ['hub:read'], expires_at: '2099-01-31T12:00:00.000000Z' }
beforeAll(async () => {
  hub = await startAuthHub()
  const allowed_addresses = ['127.0.0.0/8']
  const made = await hub.call('acme', 'POST', '/api/v1/service-accounts', { body: { ...account, allowed_addresses } })
  path = made.headers.get('location') ?? ''
  const { client_id, client_secret } = made.body
  expect((await hub.requestToken({ client_id, client_secret })).status).toBe(200)
})
afterAll(() => hub.close())

test('an account is shown with what limits it and when it was used, without its secret', async () => {
  const { status, body } = await hub.call('acme', 'GET', path)
  expect(status).toBe(200)
  expect(body).toEqual({
    client_id: path.split('/').at(-1),
    ...account,
    allowed_addresses: ['127.0.0.0/8'],
    created_at: expect.any(String),
    last_used_at: expect.any(String),
    secrets: [{ created_at: expect.any(String) }],
  })
  expect(body.last_used_at >= body.created_at).toBe(true)
})

test('one that is unknown, foreign or no id at all is not found, in the same words', async () => {
  const foreign = await hub.call('globex', 'GET', path)
  const unknown = await hub.call('acme', 'GET', `/api/v1/service-accounts/sa${'Z'.repeat(24)}`)
  const strange = await hub.call('acme', 'GET', '/api/v1/service-accounts/no-such_account')
  for (const { status, body } of [foreign, unknown, strange]) {
    expect(status).toBe(404)
    expect(body.type).toBe(`${hub.url}/errors/not-found`)
    expect(body.detail).toBe(foreign.body.detail)
  }
})

test('a parameter that there is not is refused', async () => {
  const { status, body } = await hub.call('acme', 'GET', `${path}?secrets=true`)
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/secrets'])
})

test('without token, scope or tenant there is nothing to see', async () => {
  const scopes = scopeNames.filter((scope) => scope !== 'governance:read')
  expect(await commonRejections(hub, 'GET', path, { scopes })).toEqual(allRefused)
})
