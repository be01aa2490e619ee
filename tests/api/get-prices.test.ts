import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { expectGuarded, expectProblem } from './record-cases.ts'

const path = '/api/v1/telemetry/prices'
let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const get = (tenant: TestTenant, query = '') =>
  hub.call(tenant, 'GET', `${path}${query}`, { scopes: ['telemetry:read'] })
const catalogue = { source: '@pydantic/genai-prices', version: expect.stringMatching(/^\d+\.\d+\.\d+/) }
const price = {
  llm_platform: 'claude',
  llm_model: 'claude-sonnet-4-5',
  input_usd_per_mtok: 2.4,
  output_usd_per_mtok: 12,
  effective_from: '2026-01-01T00:00:00.000000Z',
  effective_until: '2026-07-01T00:00:00.000000Z',
}

test('a tenant begins with the catalogue alone', async () => {
  const answer = await get('acme')
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body).toEqual({ prices: [], catalogue })
})

test('each tenant has its own, in Mode C too', async () => {
  for (const tenant of ['acme', 'cmode'] as const) {
    const prices = [{ ...price, llm_model: `model-of-${tenant}` }]
    const put = await hub.call(tenant, 'PUT', path, { body: { prices } })
    expect(put.status, put.text).toBe(200)
    expect((await get(tenant)).body).toEqual({ prices, catalogue })
  }
  expect((await get('globex')).body).toEqual({ prices: [], catalogue })
  expect((await get('acme')).text).not.toContain('cmode')
})

test('takes no parameters', async () => {
  expectProblem(await get('acme', '?limit=1'), 'validation-failed', '/query/limit')
})

test('not without token, tenant or scope', () =>
  expectGuarded(hub, 'GET', path, { lacking: ['hub:read', 'governance:read', 'telemetry:write', 'hub:write'] }))
