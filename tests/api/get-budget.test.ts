import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { addBudget, budgetsPath } from './budget-cases.ts'
import { accessCases, slugOf } from './connector-cases.ts'
import { prepareTelemetry, registerSkill } from './telemetry-tenants.ts'
import { must } from './webhook-cases.ts'

let hub: TestHub
let budget: string
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme', 'globex')
  await registerSkill(hub, 'acme', 'translate')
  budget = (await addBudget(hub)).budget_id
})
afterAll(() => hub.stop())

const get = (id: string, options = {}) => hub.call('acme', 'GET', `${budgetsPath}/${id}`, options)

test('adds the costs of the events that its filter selects, at once', async () => {
  const ts = new Date().toISOString()
  const ingest = (change: object) =>
    must(hub, 'acme', 'POST', '/api/v1/telemetry/events', { body: event({ ts, ...change }) })
  const filtered = await addBudget(hub, 'acme', {
    filter: { skill_id: 'sum-up', archetype_id: 'analyst', user_id: 'user:kim@example.com', llm_platform: 'claude' },
    ...{ amount_usd: 10, thresholds: [50, 80, 100] },
  })
  const calculated = await addBudget(hub, 'acme', { filter: {}, basis: 'calculated' })
  await ingest({ cost_usd_estimate: 6 })
  await ingest({ cost_usd_estimate: 2.000001 })
  await ingest({ cost_usd_estimate: 100, skill_id: 'translate' })
  await ingest({ cost_usd_estimate: 100, user_id: 'user:lee@example.com' })
  await ingest({ cost_usd_estimate: 100, llm_platform: 'gemini' })
  await ingest({ cost_usd_estimate: 100, ts: '2026-01-05T09:30:00Z' })
  const { status, body } = await get(filtered.budget_id)
  expect(status).toBe(200)
  expect(body).toMatchObject({ spent_usd: 8.000001, reached: [50, 80], amount_usd: 10 })
  expect(body.forecast_usd).toBeGreaterThanOrEqual(body.spent_usd)
  expect(body.forecast_usd).toBeLessThanOrEqual(body.spent_usd * 20)
  const summary = await must(hub, 'acme', 'GET', `/api/v1/telemetry/summary?from=${body.period_start.slice(0, 19)}Z`)
  const other = await get(calculated.budget_id)
  expect(other.body.spent_usd).toBe(summary.body.totals.cost_usd_computed)
})

test('one that nobody has is 404', async () => {
  const answer = await get(`bud_${'0'.repeat(24)}`)
  expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
})

test('a reader of telemetry may read it', async () => {
  const { status, body, text } = await get(budget, { scopes: ['telemetry:read'] })
  expect([status, body.notify]).toEqual([200, { emails: [], email_count: 1, webhook_ids: [] }])
  expect(text).not.toContain('finance@')
  expect((await get(budget)).body.notify).toEqual({ emails: ['finance@acme.example'], webhook_ids: [] })
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'GET', path: `${budgetsPath}/${budget}` }),
  wrongScopes: ['hub:read', 'telemetry:write'],
  otherTenant: 404,
})
