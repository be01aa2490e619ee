import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRefusals, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

const path = '/api/v1/hub/provision'
const provision = (tenant: string, body?: unknown) => hub.call(tenant, 'POST', path, { body })
const kinds = async (tenant: string) =>
  (await hub.events(tenant))
    .filter((event) => event.event_kind === 'hub.provisioned' || event.details.change === 'provision')
    .map((event) => event.event_kind)

test.each(['acme', 'cmode'])('%s is provisioned once, and a change is recorded', async (tenant) => {
  expect((await hub.call(tenant, 'GET', path)).body).toEqual({
    tenant,
    mode: tenant === 'acme' ? 'A' : 'C',
    provisioned: false,
  })
  const first = await provision(tenant)
  expect(first.status).toBe(200)
  expect(first.body).toMatchObject({
    tenant,
    provisioned: true,
    provisioned_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  })
  expect((await provision(tenant, {})).body).toEqual(first.body)
  expect(await kinds(tenant)).toEqual(['hub.provisioned'])

  const second = await provision(tenant, { retention_days: 365 })
  expect(second.body).toEqual({ ...first.body, retention_days: 365 })
  expect((await provision(tenant, { retention_days: 365 })).body).toEqual(second.body)
  expect((await provision(tenant)).body).toEqual(second.body)
  expect((await hub.call(tenant, 'GET', path)).body).toEqual(second.body)
  expect(await kinds(tenant)).toEqual(['hub.provisioned', 'tenant.config_changed'])
})

test('Mode B needs a key that this version does not offer', async () => {
  for (const body of [undefined, { cmek: { provider: 'local', key_ref: 'k1' } }]) {
    const answer = await provision('bmode', body)
    expect([answer.status, answer.body.type]).toEqual([422, `${hub.url}/errors/hub-not-provisioned`])
    expect(answer.body.detail).toContain('cmek')
  }
  expect((await hub.call('bmode', 'GET', path)).body).toEqual({ tenant: 'bmode', mode: 'B', provisioned: false })
})

test.each([
  [{ cmek: { provider: 'local', key_ref: 'k1' } }, '/cmek'],
  [{ cmek: { provider: 'paper', key_ref: 'k1' } }, '/cmek/provider'],
  [{ retention_days: 0 }, '/retention_days'],
  [{ retention_days: 1.5 }, '/retention_days'],
  [{ retention_days: '30' }, '/retention_days'],
  [{ days: 1 }, '/days'],
])('the body %j is refused with a pointer', async (body, pointer) => {
  const answer = await provision('globex', body)
  expect(answer.status).toBe(400)
  expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
  expect((await hub.call('globex', 'GET', path)).body.provisioned).toBe(false)
})

test('it takes both scopes, a token and the tenant', async () => {
  for (const scopes of [['hub:write'], ['connector:admin']] as const) {
    expect(await commonRefusals(hub, 'POST', path, { body: {}, scopes })).toEqual(allRefused)
  }
  const enough = await hub.call('globex', 'POST', path, { scopes: ['connector:admin', 'hub:write'] })
  expect(enough.status).toBe(200)
})
