import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { expectGuarded } from './record-cases.ts'

const path = '/api/v1/telemetry/otlp-mapping'
let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

test('a tenant begins with the defaults; each has its own, in Mode C too', async () => {
  const defaults = {
    ...{ default_skill_id: null, default_archetype_id: null, unknown_skill: 'reject' },
    ...{ ignore_operations: [], rules: [] },
  }
  const get = async (tenant: 'acme' | 'cmode') =>
    (await hub.call(tenant, 'GET', path, { scopes: ['telemetry:read'] })).body
  expect(await get('acme')).toEqual(defaults)
  await hub.call('acme', 'PUT', path, { body: { default_skill_id: 'sum-up' } })
  expect(await get('acme')).toEqual({ ...defaults, default_skill_id: 'sum-up' })
  expect(await get('cmode')).toEqual(defaults)
})

test('only for readers of telemetry of the tenant', () =>
  expectGuarded(hub, 'GET', path, { lacking: ['hub:read', 'telemetry:write'] }))
