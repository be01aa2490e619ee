import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

const path = '/api/v1/hub/cmek:rotate'
const rotate = (tenant = 'bmode', body?: unknown) => hub.call(tenant, 'POST', path, { body })

test('without a key there is nothing to rotate, in any mode', async () => {
  for (const tenant of ['bmode', 'acme', 'cmode']) {
    const answer = await rotate(tenant)
    expect([answer.status, answer.body.type]).toEqual([422, `${hub.url}/errors/hub-not-provisioned`])
    expect(answer.body.detail).toContain(
      { bmode: 'Call POST /api/v1/hub/provision', acme: 'Mode A and has no', cmode: 'Mode C' }[tenant],
    )
  }
})

test('each call makes another content key, and tells of it', async () => {
  const cmek = { provider: 'local', key_ref: 'k1' }
  const made = await hub.call('bmode', 'POST', '/api/v1/hub/provision', { body: { cmek } })
  const first = await rotate()
  expect(first.status).toBe(200)
  expect(first.body).toMatchObject({ ...cmek, content_keys: 2 })
  expect(first.body.key_id).not.toBe(made.body.cmek.key_id)
  const second = await rotate('bmode', {})
  expect(second.body).toMatchObject({ content_keys: 3 })
  expect((await hub.call('bmode', 'GET', '/api/v1/hub/provision')).body.cmek).toEqual(second.body)
  const told = (await hub.events('bmode')).filter((event) => event.event_kind === 'cmek.key_rotated')
  expect(told.map((event) => event.details)).toMatchObject([
    { former_key_id: made.body.cmek.key_id, key_id: first.body.key_id, rewrapped_keys: 1 },
    { former_key_id: first.body.key_id, key_id: second.body.key_id, rewrapped_keys: 2 },
  ])
})

test('it takes no members, both scopes, a token and the tenant', async () => {
  const refused = await rotate('bmode', { key: 1 })
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/key'])
  for (const scopes of [['hub:write'], ['connector:admin']] as const) {
    expect(await commonRejections(hub, 'POST', path, { body: {}, scopes })).toEqual(allRefused)
  }
})
