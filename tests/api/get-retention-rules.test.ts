import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { retentionPath } from './hold-cases.ts'
import { expectGuarded, expectProblem } from './record-cases.ts'

let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const get = (tenant: 'acme' | 'globex', parameters = '') => hub.call(tenant, 'GET', `${retentionPath}${parameters}`)

test('no rules at first, then those that were put, of this tenant alone', async () => {
  expect((await get('acme')).body).toEqual({ rules: [], four_eyes: false })
  const rules = [{ record_type: 'output', min_days: 30, max_days: 365 }]
  await hub.call('acme', 'PUT', retentionPath, { body: { rules, four_eyes: true } })
  expect((await get('acme')).body).toEqual({ rules, four_eyes: true })
  expect((await get('globex')).body).toEqual({ rules: [], four_eyes: false })
})

test('bad input', async () => {
  expectProblem(await get('acme', '?limit=1'), 'validation-failed', '/query/limit')
})

test('not without token, tenant or scope; governance:read is enough', async () => {
  await expectGuarded(hub, 'GET', retentionPath, { lacking: ['hub:read', 'hub:write'] })
  expect((await hub.call('acme', 'GET', retentionPath, { scopes: ['governance:read'] })).status).toBe(200)
})
