import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

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

test('Mode B requires a key of its own, and is provisioned with one, once', async () => {
  for (const body of [undefined, {}, { retention_days: 5 }]) {
    const answer = await provision('bmode', body)
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/cmek'])
  }
  const cmek = { provider: 'vault', key_ref: 'k1' }
  expect((await provision('bmode', { cmek })).body.errors[0].pointer).toBe('/cmek/provider')
  const unnamed = { provider: 'aws-kms', key_ref: '../k1' }
  expect((await provision('bmode', { cmek: unnamed })).body.errors[0].pointer).toBe('/cmek/key_ref')
  expect((await hub.call('bmode', 'GET', path)).body).toEqual({ tenant: 'bmode', mode: 'B', provisioned: false })

  const made = await provision('bmode', { cmek: { provider: 'local', key_ref: 'k1' } })
  expect(made.body).toMatchObject({
    provisioned: true,
    cmek: { provider: 'local', key_ref: 'k1', key_id: expect.stringMatching(/^ck_/), content_keys: 1 },
  })
  for (const body of [undefined, {}, { cmek: { provider: 'local', key_ref: 'k1' } }]) {
    expect((await provision('bmode', body)).body).toEqual(made.body)
  }
  expect((await hub.call('bmode', 'GET', path)).body).toEqual(made.body)
  const told = (await hub.events('bmode')).map((event) => event.event_kind)
  expect(told.filter((kind) => kind === 'cmek.key_created' || kind === 'hub.provisioned')).toEqual([
    'cmek.key_created',
    'hub.provisioned',
  ])
})

test('keys that are asked for at once are one key', async () => {
  const destroy = { confirm: 'bmode', reason: 'anew' }
  expect((await hub.call('bmode', 'POST', '/api/v1/hub/cmek:destroy', { body: destroy })).status).toBe(200)
  const answers = await Promise.all(
    [1, 2, 3].map(() => provision('bmode', { cmek: { provider: 'local', key_ref: 'k1' } })),
  )
  expect(new Set(answers.map((answer) => answer.body.cmek.key_id)).size).toBe(1)
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

test('everything that is wrong is told at once', async () => {
  const wrong = { retention_days: 0, cmek: { provider: 'local', key_ref: 'k1' }, days: 1 }
  const { body: problem } = await provision('globex', wrong)
  const pointers = problem.errors.map((error: { pointer: string }) => error.pointer)
  expect(pointers.sort()).toEqual(['/cmek', '/days', '/retention_days'])
})

test('it takes both scopes, a token and the tenant', async () => {
  for (const scopes of [['hub:write'], ['connector:admin']] as const) {
    expect(await commonRejections(hub, 'POST', path, { body: {}, scopes })).toEqual(allRefused)
  }
  const enough = await hub.call('globex', 'POST', path, { scopes: ['connector:admin', 'hub:write'] })
  expect(enough.status).toBe(200)
})
