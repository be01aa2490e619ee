import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { addPlatform, addProvider, type Connection, person, send } from './inbound-lab.ts'

let hub: TestHub
let provider: Connection
let platform: Connection
beforeAll(async () => {
  // Ten a minute by connection, and a hundred by tenant and by address.
  hub = await startHub({ limitFactor: 0.001 })
  const limits = {
    roster: { per_token: 1_000_000, per_tenant: 1_000_000 },
    auth: { per_token: 1_000_000, per_tenant: 1_000_000 },
  }
  for (const tenant of ['acme', 'globex']) {
    await hub.modules.tenants.operated.update(tenant, { limits }, { operator: 'test' })
  }
  provider = await addProvider(hub)
  platform = await addPlatform(hub)
})
afterAll(() => hub.stop())

const message = () => person('deactivated', { user_name: 'nobody' })

test('wrong signatures keep no right one out, and are limited by the address', async () => {
  const statuses: number[] = []
  for (let call = 0; call < 105; call += 1) {
    statuses.push((await send(hub, { ...provider, secret: 'whsec_wrong' }, message())).status)
  }
  expect(new Set(statuses)).toEqual(new Set([401, 429]))
  const answer = await send(hub, provider, message())
  expect([answer.status, answer.headers['ratelimit-policy']]).toEqual([200, '"token";q=10;w=60, "tenant";q=100;w=60'])
})

test('a message that is sent again and again is limited by the address, and its sender goes on', async () => {
  const captured = await addProvider(hub, 'globex')
  const once = message()
  expect((await send(hub, captured, once)).body.status).toBe('accepted')
  const again: number[] = []
  for (let call = 0; call < 15; call += 1) again.push((await send(hub, captured, once)).status)
  expect([again.slice(0, 10), new Set(again.slice(10))]).toEqual([Array(10).fill(200), new Set([429])])
  const answer = await send(hub, captured, message())
  expect([answer.status, answer.headers.ratelimit]).toEqual([200, expect.stringContaining('"token";r=8;')])
})

test('a connection that sends too much waits, and no other does', async () => {
  const statuses: number[] = []
  for (let call = 0; call < 12; call += 1) statuses.push((await send(hub, provider, message())).status)
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(2)
  const limited = await send(hub, provider, message())
  expect([limited.status, Number(limited.headers['retry-after']) >= 1]).toEqual([429, true])
  expect((await send(hub, platform, '{}')).status).toBe(400)
})
