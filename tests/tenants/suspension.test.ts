import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventsOf } from '../auth/auth-lab.ts'
import { scaled } from '../support/machine-speed.ts'
import { type OperatorLab, ofTenant, problemOf, startOperatorLab } from './operator-lab.ts'

let lab: OperatorLab
beforeAll(async () => {
  lab = await startOperatorLab()
})
afterAll(() => lab.hub.stop())

const suspend = async (slug: string, suspended: boolean) => {
  const { status, body } = await lab.call('PATCH', ofTenant(slug), { suspended })
  expect([status, body.suspended]).toEqual([200, suspended])
  return body
}

/** Changes are seen within five seconds. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + scaled(30_000); !(await isSo()); await pause(100)) {
    if (performance.now() > end) throw new Error('not within five seconds')
  }
}

const records = '/api/v1/hub/records'

test('nobody of a suspended tenant gets in, and nothing is lost', async () => {
  const { hub } = lab
  const account = await hub.modules.auth.serviceAccounts.create(
    await hub.tenant('acme'),
    { name: 'robot', scopes: ['hub:read'] },
    { operator: 'test' },
  )
  const askForToken = (secret = account.client_secret) =>
    fetch(`${hub.baseUrl}/api/v1/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: account.client_id,
        client_secret: secret,
      }),
    })
  const issued = (await (await askForToken()).json()) as { access_token: string }
  const mock = () =>
    fetch(`${hub.baseUrl}/api/v1/auth/mock-login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'kim@acme.example', tenant: 'acme' }),
    })
  const session = (await mock()).headers.getSetCookie().map((line) => line.split(';')[0])
  const refreshed = () =>
    fetch(`${hub.baseUrl}/api/v1/auth/token`, {
      method: 'POST',
      headers: { cookie: session.join('; '), 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: '{}',
    })
  expect((await refreshed()).status).toBe(200)
  const link = (await lab.call('POST', ofTenant('acme', ':welcome-link'))).body.welcome_url
  const written = (await hub.call('acme', 'POST', records, { body: { record_type: 'artifact', title: 'kept' } })).body

  const suspended = await suspend('acme', true)
  expect(suspended.suspended_at).toMatch(/\.\d{6}Z$/)
  await until(async () => (await hub.call('acme', 'GET', records)).status === 403)
  const refusal = await hub.call('acme', 'GET', records)
  expect(problemOf(refusal)).toEqual([403, 'invalid-tenant'])
  // The same answer as for a tenant that does not exist, whoever has asked for it before and whoever has not.
  const unknown = await hub.call('acme', 'GET', records, { headers: { 'x-service-tenant': 'nowhere' } })
  expect({ ...refusal.body, instance: '', tenant_slug: '' }).toEqual({
    ...unknown.body,
    instance: '',
    tenant_slug: '',
  })
  expect(problemOf(await hub.call('acme', 'GET', records, { token: issued.access_token }))).toEqual([
    403,
    'invalid-tenant',
  ])
  expect((await askForToken()).status).toBe(403)
  expect((await askForToken('wrong')).status).toBe(401)
  expect((await mock()).status).toBe(403)
  expect((await refreshed()).status).toBe(403)
  expect((await fetch(link)).status).toBe(404)
  const me = await hub.call('acme', 'GET', '/api/v1/auth/me', { token: issued.access_token })
  expect(problemOf(me)).toEqual([403, 'invalid-tenant'])
  expect((await hub.call('globex', 'GET', records)).status).toBe(200)

  await suspend('acme', false)
  await until(async () => (await hub.call('acme', 'GET', records)).status === 200)
  expect((await hub.call('acme', 'GET', `${records}/${written.record_id}?verify=true`)).body).toMatchObject({
    title: 'kept',
    verification: { verified: true },
  })
  expect((await askForToken()).status).toBe(200)
  expect((await refreshed()).status).toBe(200)
  expect((await fetch(link)).status).toBe(200)
  const told = (await eventsOf(hub.test.database, 'acme')).filter(
    ({ details }) => details.change === 'tenant' && String(details.actor).startsWith('operator:'),
  )
  expect(told.map(({ details }) => [details.changed, details.before, details.after])).toEqual([
    [['suspended'], { suspended: false }, { suspended: true }],
    [['suspended'], { suspended: true }, { suspended: false }],
  ])
})

test('the proofs of a suspended tenant go on', async () => {
  const { hub } = lab
  const sizeOf = async () =>
    (await hub.test.database.withTenant('globex', (tx) => hub.modules.log.logs.head(tx), { readOnly: true }))
      ?.treeSize ?? 0
  const before = await sizeOf()
  await hub.call('globex', 'POST', records, { body: { record_type: 'artifact', title: 'taken in later' } })
  await suspend('globex', true)
  hub.modules.log.start()
  await until(async () => (await sizeOf()) > before)
  await hub.modules.log.stop()
  expect((await hub.call('globex', 'GET', records)).status).toBe(403)
})

test('a tenant that moves to an address of its own ends the tokens of the one before', async () => {
  const { hub } = lab
  const before = await hub.token('cmode')
  expect((await hub.call('cmode', 'GET', records, { token: before })).status).toBe(200)
  await lab.call('PATCH', ofTenant('cmode'), { base_url: 'https://hub.customer.example' })
  await until(async () => (await hub.call('cmode', 'GET', records, { token: before })).status === 401)
  await lab.call('PATCH', ofTenant('cmode'), { base_url: null })
  await until(async () => (await hub.call('cmode', 'GET', records, { token: before })).status === 200)
})
