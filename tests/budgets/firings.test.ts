import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { addBudget, budgetsPath } from '../api/budget-cases.ts'
import { addWebhook, must, webhooksPath } from '../api/webhook-cases.ts'
import { takeDescribed } from '../webhooks/queued-messages.ts'
import { type BudgetLab, startBudgetLab } from './budget-lab.ts'

let lab: BudgetLab
let webhook: string
beforeAll(async () => {
  lab = await startBudgetLab({ poolSize: 8 })
  webhook = (await addWebhook(lab.hub)).webhook_id
})
afterEach(async () => {
  const { items } = (await must(lab.hub, 'acme', 'GET', budgetsPath)).body
  for (const { budget_id } of items) await must(lab.hub, 'acme', 'DELETE', `${budgetsPath}/${budget_id}`)
  const superuser = await lab.hub.superuserClient()
  for (const table of ['telemetry_deltas', 'telemetry_rollups', 'rollup_open_days'])
    await superuser.query(`delete from hub.${table}`)
  await takeDescribed(lab.hub)
})
afterAll(() => lab.hub.stop())

const noon = '2026-01-07T12:00:00Z'

async function add(change: object = {}): Promise<string> {
  const settings = { filter: {}, period: 'day', time_zone: 'UTC', amount_usd: 10, notify: { webhook_ids: [webhook] } }
  const { budget_id } = await addBudget(lab.hub, 'acme', { name: 'B', ...settings, ...change })
  await lab.age(budget_id, '2026-01-01T00:00:00Z')
  return budget_id
}

async function setZone(id: string, zone: string): Promise<void> {
  const superuser = await lab.hub.superuserClient()
  await superuser.query('update hub.budgets set time_zone = $2 where budget_id = $1', [id, zone])
}

test('each threshold fires once a period, with message and event', async () => {
  const id = await add()
  await lab.spend(4.999999, '2026-01-07T01:00:00Z')
  expect(await lab.look(noon)).toEqual([])
  await lab.spend(0.000001, '2026-01-07T11:59:00Z')
  lab.nowMs = Date.parse(noon)
  await lab.process().evaluate(await lab.hub.tenant('acme'))
  const [message, ...others] = await takeDescribed(lab.hub)
  expect(others).toEqual([])
  expect(message).toMatchObject({
    kind: 'budget.threshold_reached',
    occurredAt: '2026-01-07T12:00:00.000000Z',
    webhookIds: [webhook],
    data: {
      ...{ budget_id: id, name: 'B', threshold: 50, amount_usd: 10, spent_usd: 5, forecast_usd: 10 },
      ...{ basis: 'reported', period: 'day', time_zone: 'UTC' },
      ...{ period_start: '2026-01-07T00:00:00.000000Z', period_end: '2026-01-08T00:00:00.000000Z' },
    },
  })
  await lab.spend(6, '2026-01-07T12:00:00Z')
  expect(await lab.look(noon)).toEqual([
    ['B', 80],
    ['B', 100],
  ])
  await lab.spend(60, '2026-01-07T12:00:00Z')
  expect(await lab.look(noon)).toEqual([])
  expect((await lab.events(id)).sort((a, b) => a - b)).toEqual([50, 80, 100])
})

test('every period fires, and for an hour after its end its late events do', async () => {
  const id = await add()
  await lab.spend(5, '2026-01-07T01:00:00Z')
  expect(await lab.look(noon)).toEqual([['B', 50]])
  await lab.spend(3, '2026-01-07T23:59:59Z')
  await lab.spend(5, '2026-01-08T00:00:00Z')
  expect(await lab.look('2026-01-08T00:00:20Z')).toEqual([
    ['B', 80],
    ['B', 50],
  ])
  expect(await lab.look('2026-01-08T01:00:01Z')).toEqual([])
  await lab.spend(2, '2026-01-07T23:00:00Z')
  expect(await lab.look('2026-01-08T01:00:02Z')).toEqual([])
  expect(await lab.events(id)).toHaveLength(3)
})

test('a period that ended while no process ran is evaluated once when one runs again', async () => {
  const id = await add()
  await lab.spend(5, '2026-01-07T01:00:00Z')
  expect(await lab.look(noon)).toEqual([['B', 50]])
  await lab.spend(3, '2026-01-07T20:00:00Z')
  const recovered = '2026-01-08T17:00:00Z'
  expect(await lab.look(recovered)).toEqual([['B', 80]])
  // The row says so: further processes do not evaluate the period either.
  await lab.spend(2, '2026-01-07T21:00:00Z')
  lab.nowMs = Date.parse(recovered) + 1000
  await lab.process().evaluate(await lab.hub.tenant('acme'))
  expect(await takeDescribed(lab.hub)).toEqual([])
  expect(await lab.events(id)).toEqual([50, 80])
})

test('a process that stops in the hour for late events misses none of them', async () => {
  await add()
  await lab.spend(5, '2026-01-07T23:00:00Z')
  expect(await lab.look('2026-01-08T00:00:20Z')).toEqual([['B', 50]])
  await lab.spend(3, '2026-01-07T23:30:00Z')
  expect(await lab.look('2026-01-08T09:00:00Z')).toEqual([['B', 80]])
})

test('after a longer pause only the last period that ended is evaluated', async () => {
  await add()
  await lab.spend(5, '2026-01-05T12:00:00Z')
  await lab.spend(8, '2026-01-06T12:00:00Z')
  expect(await lab.look('2026-01-07T02:00:00Z')).toEqual([
    ['B', 50],
    ['B', 80],
  ])
})

test('several processes that run again report an ended period once', async () => {
  const id = await add()
  await lab.spend(10, '2026-01-07T01:00:00Z')
  lab.nowMs = Date.parse('2026-01-08T17:00:00Z')
  const tenant = await lab.hub.tenant('acme')
  await Promise.all(Array.from({ length: 4 }, () => lab.process().evaluate(tenant)))
  expect((await lab.events(id)).sort((a, b) => a - b)).toEqual([50, 80, 100])
})

test.each([
  ['its time zone is unknown', async (id: string) => void (await setZone(id, 'Mars/Olympus')), () => lab.process()],
  [
    'its report cannot be written',
    async () => {},
    () =>
      lab.process({
        outbox: {
          async add(tx, messages) {
            await lab.hub.modules.webhooks.outbox.add(tx, messages)
            if (messages.some(({ data }) => (data as { name: string }).name === 'Broken')) throw new Error('refused')
          },
        },
      }),
  ],
])('a budget that cannot be evaluated because %s delays no other', async (_name, breakIt, processOf) => {
  const names = ['First', 'Second', 'Broken', 'Fourth', 'Fifth']
  const ids: string[] = []
  for (const name of names) ids.push(await add({ name, thresholds: [50] }))
  const broken = ids[2]!
  await breakIt(broken)
  await lab.spend(5, '2026-01-07T01:00:00Z')
  lab.nowMs = Date.parse(noon)
  const tenant = await lab.hub.tenant('acme')
  for (const _ of [1, 2]) {
    await expect(processOf().evaluate(tenant)).rejects.toThrow(`cannot evaluate the budget ${broken}`)
  }
  const reported = (await takeDescribed(lab.hub)).map(({ data }) => data.name)
  expect(reported.sort()).toEqual(['Fifth', 'First', 'Fourth', 'Second'])
  await setZone(broken, 'UTC')
  expect(await lab.look(noon)).toEqual([['Broken', 50]])
})

test('a period ends where the clock of its time zone is set', async () => {
  await add({ time_zone: 'Europe/Berlin' })
  await lab.spend(4, '2026-03-28T22:59:59Z')
  await lab.spend(4, '2026-03-28T23:00:00Z')
  expect(await lab.look('2026-03-29T12:00:00Z')).toEqual([])
  await lab.spend(1, '2026-03-29T21:59:59Z')
  expect(await lab.look('2026-03-29T21:59:59Z')).toEqual([['B', 50]])
  await lab.spend(5, '2026-03-29T22:00:00Z')
  expect(await lab.look('2026-03-29T22:00:01Z')).toEqual([['B', 50]])
})

test('settings that changed after the end of a period do not apply to it', async () => {
  const id = await add()
  await lab.spend(4, '2026-01-07T12:00:00Z')
  await lab.look('2026-01-07T12:00:00Z')
  await lab.change(id, { amount_usd: 4 })
  await lab.age(id, '2026-01-08T00:00:10Z')
  expect(await lab.look('2026-01-08T00:00:20Z')).toEqual([])
})

test('a lower amount fires what it newly reaches, and a higher one fires nothing twice', async () => {
  const id = await add()
  await lab.spend(5, '2026-01-07T01:00:00Z')
  expect(await lab.look(noon)).toEqual([['B', 50]])
  await lab.change(id, { amount_usd: 6 })
  expect(await lab.look(noon)).toEqual([['B', 80]])
  await lab.change(id, { amount_usd: 100 })
  await lab.change(id, { amount_usd: 10, thresholds: [40, 50, 80, 100] })
  expect(await lab.look(noon)).toEqual([['B', 40]])
})

test('only events of the filter count, by the chosen cost', async () => {
  await add({ name: 'Lee', filter: { user_id: 'user:lee@example.com' } })
  await add({ name: 'Calculated', basis: 'calculated', amount_usd: 0.001, thresholds: [1000] })
  await lab.spend(9, '2026-01-07T01:00:00Z', { tokens_in: 0, tokens_out: 0 })
  expect(await lab.look(noon)).toEqual([])
  await lab.spend(5, '2026-01-07T01:00:00Z', { user_id: 'user:lee@example.com', tokens_in: 1_000_000 })
  expect((await lab.look(noon)).sort()).toEqual([
    ['Calculated', 1000],
    ['Lee', 50],
  ])
})

test('events count before and after they are aggregated', async () => {
  await add()
  await lab.spend(5, '2026-01-07T01:00:00Z')
  expect(await lab.look(noon)).toEqual([['B', 50]])
  await lab.hub.modules.rollups.rollups.fold('acme')
  await lab.spend(2.9, '2026-01-07T02:00:00Z')
  expect(await lab.look(noon)).toEqual([])
  await lab.spend(0.1, '2026-01-07T02:00:00Z')
  await lab.hub.modules.rollups.rollups.fold('acme')
  expect(await lab.look(noon)).toEqual([['B', 80]])
})

test('several processes fire once', async () => {
  const id = await add()
  await lab.spend(10, '2026-01-07T01:00:00Z')
  lab.nowMs = Date.parse(noon)
  const tenant = await lab.hub.tenant('acme')
  const processes = Array.from({ length: 4 }, () => lab.process())
  for (let times = 0; times < 3; times += 1) await Promise.all(processes.map((each) => each.evaluate(tenant)))
  expect(await takeDescribed(lab.hub)).toHaveLength(3)
  expect((await lab.events(id)).sort((a, b) => a - b)).toEqual([50, 80, 100])
})

test('a process that ends in the middle has fired nothing, and the next one fires', async () => {
  const id = await add()
  await lab.spend(5, '2026-01-07T01:00:00Z')
  const ending = lab.process({
    outbox: {
      async add(tx, messages) {
        await lab.hub.modules.webhooks.outbox.add(tx, messages)
        throw new Error('killed')
      },
    },
  })
  lab.nowMs = Date.parse(noon)
  await expect(ending.evaluate(await lab.hub.tenant('acme'))).rejects.toThrow('killed')
  expect([await takeDescribed(lab.hub), await lab.events(id)]).toEqual([[], []])
  expect(await lab.look(noon)).toEqual([['B', 50]])
})

test('endpoints that the budget names and those that subscribe receive it once, disabled ones never', async () => {
  const both = (await addWebhook(lab.hub, 'acme', { events: ['budget.threshold_reached'] })).webhook_id
  const family = (await addWebhook(lab.hub, 'acme', { events: ['budget.*'] })).webhook_id
  const disabled = (await addWebhook(lab.hub, 'acme', { events: ['budget.*'] })).webhook_id
  await must(lab.hub, 'acme', 'PATCH', `${webhooksPath}/${disabled}`, { body: { enabled: false } })
  await add({ notify: { webhook_ids: [webhook, both, disabled] } })
  await takeDescribed(lab.hub)
  await lab.spend(5, '2026-01-07T01:00:00Z')
  lab.nowMs = Date.parse(noon)
  await lab.process().evaluate(await lab.hub.tenant('acme'))
  const messages = await takeDescribed(lab.hub)
  expect(messages.map(({ webhookIds }) => [...webhookIds!].sort())).toEqual([[webhook, both, family].sort()])
  for (const id of [both, family, disabled]) await must(lab.hub, 'acme', 'DELETE', `${webhooksPath}/${id}`)
})

test('a tenant without budgets has nothing to evaluate; others until a period ends', async () => {
  const tenant = await lab.hub.tenant('acme')
  lab.nowMs = Date.parse(noon)
  expect(await lab.process().evaluate(tenant)).toBeUndefined()
  await add()
  await add({ period: 'month' })
  expect(await lab.process().evaluate(tenant)).toBe(12 * 3_600_000)
})
