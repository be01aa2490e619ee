import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

async function newAccount() {
  const { client_id, client_secret } = await hub.account('acme', ['hub:read'])
  const path = `/api/v1/service-accounts/${client_id}`
  const works = async (secret: string) => (await hub.requestToken({ client_id, client_secret: secret })).status
  return { path, client_id, client_secret, works, rotate: () => hub.call('acme', 'POST', `${path}:rotate-secret`) }
}

test('a further secret is shown once, and the one before it ends in 24 hours', async () => {
  const { path, client_id, client_secret, works, rotate } = await newAccount()
  const { status, body } = await rotate()
  expect(status).toBe(200)
  expect(body).toEqual({
    client_id,
    client_secret: expect.stringMatching(/^[A-Za-z0-9]{48}$/),
    previous_secret_expires_at: expect.any(String),
  })
  const hours = (Date.parse(body.previous_secret_expires_at) - Date.now()) / 3_600_000
  expect(hours).toBeGreaterThan(23.9)
  expect(hours).toBeLessThanOrEqual(24)
  expect([await works(client_secret), await works(body.client_secret)]).toEqual([200, 200])
  expect((await hub.call('acme', 'GET', path)).body.secrets).toEqual([
    { created_at: expect.any(String), expires_at: body.previous_secret_expires_at },
    { created_at: expect.any(String) },
  ])
})

test('two are live at most, however often and at once it is rotated', async () => {
  const { path, client_secret, works, rotate } = await newAccount()
  const second = (await rotate()).body.client_secret
  const third = (await rotate()).body.client_secret
  expect([await works(client_secret), await works(second), await works(third)]).toEqual([401, 200, 200])
  const answers = await Promise.all(Array.from({ length: 5 }, rotate))
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
  const statuses = await Promise.all(answers.map(({ body }) => works(body.client_secret)))
  expect(statuses.filter((status) => status === 200)).toHaveLength(2)
  expect(await works(third)).toBe(401)
  expect((await hub.call('acme', 'GET', path)).body.secrets).toHaveLength(2)
  const events = await hub.events('acme')
  expect(events.filter(({ event_kind }) => event_kind === 'hub.tamper_detected')).toEqual([])
})

test('the tenant is told, without the secret; tokens that are about stay good', async () => {
  const { client_id, client_secret, rotate } = await newAccount()
  const { access_token: token } = (await hub.requestToken({ client_id, client_secret })).body
  const { client_secret: fresh, previous_secret_expires_at } = (await rotate()).body
  expect((await hub.call('acme', 'GET', '/api/v1/hub/records', { token })).status).toBe(200)
  const events = await hub.events('acme')
  const rotations = events.filter(({ subject }) => subject === `service_account:${client_id}`).slice(1)
  expect(rotations).toEqual([
    expect.objectContaining({
      event_kind: 'tenant.config_changed',
      details: expect.objectContaining({
        change: 'service_account_secret_rotated',
        after: { previous_secret_expires_at },
        address: '127.0.0.1',
      }),
    }),
  ])
  expect(JSON.stringify([events, hub.hub.logLines])).not.toContain(fresh)
})

test('one that is disabled gets none, one that is unknown or foreign is not found', async () => {
  const { path, rotate } = await newAccount()
  const foreign = await hub.call('globex', 'POST', `${path}:rotate-secret`)
  const unknown = await hub.call('acme', 'POST', `${path}x:rotate-secret`)
  expect([foreign.status, unknown.status, foreign.body.detail]).toEqual([404, 404, unknown.body.detail])
  await hub.call('acme', 'DELETE', path)
  const { status, body } = await rotate()
  expect([status, body.type]).toEqual([409, `${hub.url}/errors/concurrent-modification`])
})

test('a body with members is refused, and a GET is not the account of that name', async () => {
  const { path } = await newAccount()
  const { status, body } = await hub.call('acme', 'POST', `${path}:rotate-secret`, { body: { secret: 'mine' } })
  expect([status, body.errors[0].pointer]).toEqual([400, '/secret'])
  expect((await hub.call('acme', 'GET', `${path}:rotate-secret`)).status).toBe(405)
})

test('without token, scope or tenant there is no new secret', async () => {
  const { path, client_secret, works } = await newAccount()
  const scopes = scopeNames.filter((scope) => scope !== 'telemetry:read')
  expect(await commonRejections(hub, 'POST', `${path}:rotate-secret`, { scopes })).toEqual(allRefused)
  expect((await hub.call('acme', 'GET', path)).body.secrets).toHaveLength(1)
  expect(await works(client_secret)).toBe(200)
})
