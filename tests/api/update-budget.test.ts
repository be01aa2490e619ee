import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { addBudget, badSettings, budgetBody, budgetsPath } from './budget-cases.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { must } from './webhook-cases.ts'

let hub: TestHub
let budget: string
beforeAll(async () => {
  hub = await startHub()
  budget = (await addBudget(hub)).budget_id
})
afterAll(() => hub.stop())

const change = (body: unknown, id = budget) => hub.call('acme', 'PATCH', `${budgetsPath}/${id}`, { body })

async function changesOf(id: string) {
  const query = 'event_kind=tenant.config_changed&limit=1000&sort=created_at'
  const { records } = (await must(hub, 'acme', 'GET', `/api/v1/hub/records?${query}`)).body
  return records.filter(({ subject }: { subject: string }) => subject === `budget:${id}`)
}

test('absent members stay, others are replaced as a whole', async () => {
  const before = await addBudget(hub)
  const answer = await change({ amount_usd: 20, notify: {} }, before.budget_id)
  expect(answer.status).toBe(200)
  const { updated_at, forecast_usd: _, ...rest } = before
  expect(answer.body).toMatchObject({ ...rest, amount_usd: 20, notify: { emails: [], webhook_ids: [] } })
  expect(answer.body.updated_at > updated_at).toBe(true)
  const all = { ...budgetBody(), name: 'B', filter: {}, period: 'week', time_zone: 'Asia/Tokyo', basis: 'calculated' }
  const whole = await change({ ...all, thresholds: [10, 1000] }, before.budget_id)
  expect([whole.status, whole.body]).toMatchObject([200, { ...all, thresholds: [10, 1000] }])
})

test('a change is an event without the person and the addresses; the same again is none', async () => {
  const made = await addBudget(hub, 'acme', { filter: { user_id: 'user:kim@example.com' } })
  const body = { name: 'Kim', notify: { emails: ['boss@acme.example'] } }
  for (const _ of [1, 2]) expect((await change(body, made.budget_id)).status).toBe(200)
  const events = await changesOf(made.budget_id)
  expect(events.map(({ details }: { details: { change: string } }) => details.change)).toEqual([
    'budget_added',
    'budget',
  ])
  expect(events[1].details).toMatchObject({
    before: { name: 'Support team' },
    after: { name: 'Kim' },
    emails_changed: true,
  })
  expect(JSON.stringify(events)).not.toMatch(/kim@|boss@|finance@/)
})

test.each(badSettings)('%s is 400', async (_name, body, pointer) => {
  const answer = await change(body)
  expect([answer.status, slugOf(answer), pointersOf(answer)]).toEqual([400, 'validation-failed', [pointer]])
})

test('one that nobody has is 404', async () => {
  const answer = await change({ name: 'x' }, `bud_${'0'.repeat(24)}`)
  expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'PATCH', path: `${budgetsPath}/${budget}`, body: { name: 'taken' } }),
  wrongScopes: ['telemetry:read', 'telemetry:write'],
  otherTenant: 404,
})
