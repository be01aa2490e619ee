import { afterAll, beforeAll, expect, test } from 'vitest'
import { budgetsMax } from '../../contract/limits.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { addBudget, badSettings, budgetBody, budgetsPath } from './budget-cases.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { addWebhook } from './webhook-cases.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const create = (body: unknown, options = {}) => hub.call('acme', 'POST', budgetsPath, { body, ...options })

test('answers the settings, what is spent and the running period', async () => {
  const { webhook_id } = await addWebhook(hub)
  const settings = budgetBody({ notify: { emails: ['finance@acme.example'], webhook_ids: [webhook_id] } })
  const answer = await create(settings)
  expect(answer.status).toBe(201)
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  expect(answer.body).toEqual({
    budget_id: expect.stringMatching(/^bud_[A-Za-z0-9]{24}$/),
    ...settings,
    ...{ spent_usd: 0, forecast_usd: 0, reached: [] },
    ...{ period_start: time, period_end: time, created_at: time, updated_at: answer.body.created_at },
    created_by: await hub.clientId('acme'),
  })
  const now = new Date().toISOString()
  expect([answer.body.period_start <= now, now < answer.body.period_end]).toEqual([true, true])
  expect(answer.headers.location).toBe(`${budgetsPath}/${answer.body.budget_id}`)
})

test('has defaults', async () => {
  const { status, body } = await create({ name: 'All', period: 'day', amount_usd: 10 })
  expect(status).toBe(201)
  const defaults = { filter: {}, time_zone: 'UTC', basis: 'reported', thresholds: [50, 80, 100] }
  expect(body).toMatchObject({ ...defaults, notify: { emails: [], webhook_ids: [] } })
  expect([body.period_start, body.period_end]).toEqual([
    expect.stringContaining('T00:00:00.000000Z'),
    expect.stringContaining('T00:00:00.000000Z'),
  ])
})

test('takes a time zone in any case, and answers its usual spelling', async () => {
  const { status, body } = await create(budgetBody({ time_zone: 'asia/kathmandu' }))
  expect([status, body.time_zone]).toEqual([201, 'Asia/Kathmandu'])
  expect(body.period_start).toContain('T18:15:00.000000Z')
})

const missing = ['name', 'period', 'amount_usd'].map((name): [string, object, string] => [
  `no ${name}`,
  { [name]: undefined },
  `/${name}`,
])

test.each([...badSettings, ...missing])('%s is 400', async (_name, change, pointer) => {
  const answer = await create(budgetBody(change))
  expect([answer.status, slugOf(answer), pointersOf(answer)]).toEqual([400, 'validation-failed', [pointer]])
})

test('an endpoint of another tenant, or a removed one, is none', async () => {
  const { webhook_id: foreign } = await addWebhook(hub, 'globex')
  const { webhook_id: removed } = await addWebhook(hub)
  await hub.call('acme', 'DELETE', `/api/v1/webhooks/${removed}`)
  const answer = await create(budgetBody({ notify: { webhook_ids: [foreign, removed] } }))
  expect([answer.status, pointersOf(answer)]).toEqual([400, ['/notify/webhook_ids/0', '/notify/webhook_ids/1']])
})

test('a tenant has so many, and no more', async () => {
  for (let count = 0; count < budgetsMax; count += 1) await addBudget(hub, 'globex', { notify: {} })
  const answer = await hub.call('globex', 'POST', budgetsPath, { body: budgetBody() })
  expect([answer.status, slugOf(answer), pointersOf(answer)]).toEqual([400, 'validation-failed', ['']])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: budgetsPath, body: budgetBody() }),
  wrongScopes: ['telemetry:read', 'telemetry:write'],
})
