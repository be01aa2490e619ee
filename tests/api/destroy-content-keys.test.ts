import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

const path = '/api/v1/hub/cmek:destroy'
const body = { confirm: 'bmode', reason: 'The contract is over.' }
const destroy = (given: unknown = body, tenant = 'bmode') => hub.call(tenant, 'POST', path, { body: given })

test('without a key there is nothing to destroy, in any mode', async () => {
  for (const tenant of ['bmode', 'acme', 'cmode']) {
    const answer = await destroy({ ...body, confirm: tenant }, tenant)
    expect([answer.status, answer.body.type]).toEqual([422, `${hub.url}/errors/hub-not-provisioned`])
    expect(answer.body.detail).toContain(
      { bmode: 'Call POST /api/v1/hub/provision', acme: 'Mode A and has no', cmode: 'Mode C' }[tenant],
    )
  }
})

test.each([
  [{ reason: 'x' }, '/confirm'],
  [{ confirm: 'acme', reason: 'x' }, '/confirm'],
  [{ confirm: 'bmode' }, '/reason'],
  [{ confirm: 'bmode', reason: '' }, '/reason'],
  [{ confirm: 'bmode', reason: 'x'.repeat(501) }, '/reason'],
  [{ ...body, force: true }, '/force'],
])('the body %j is refused with a pointer', async (given, pointer) => {
  const answer = await destroy(given)
  expect(answer.status).toBe(400)
  expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
})

test('the keys are destroyed once, and a repeated call answers the same', async () => {
  const cmek = { provider: 'local', key_ref: 'k1' }
  const made = await hub.call('bmode', 'POST', '/api/v1/hub/provision', { body: { cmek } })
  const destroyed = await destroy()
  expect(destroyed.status).toBe(200)
  expect(destroyed.body).toMatchObject({ tenant: 'bmode', key_ids: [made.body.cmek.key_id] })
  expect((await destroy()).body).toEqual(destroyed.body)
  const told = (await hub.events('bmode')).filter((event) => event.event_kind === 'cmek.key_destroyed')
  expect(told).toMatchObject([{ record_id: destroyed.body.event_id, details: { reason: body.reason } }])
  expect((await hub.call('bmode', 'GET', '/api/v1/hub/provision')).body.provisioned).toBe(false)
})

test('it takes an administrator, a token and the tenant', async () => {
  for (const scopes of [['connector:admin'], ['roster:write'], ['hub:purge']] as const) {
    expect(await commonRejections(hub, 'POST', path, { body: { ...body, confirm: 'acme' }, scopes })).toEqual(
      allRefused,
    )
  }
})
