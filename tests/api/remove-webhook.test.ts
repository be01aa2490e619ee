import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases, slugOf } from './connector-cases.ts'
import { addDeliveries, addWebhook, countRows, secretsOf, webhookEventsOf, webhooksPath } from './webhook-cases.ts'

let hub: TestHub
let id: string
beforeAll(async () => {
  hub = await startHub()
  id = (await addWebhook(hub)).webhook_id
})
afterAll(() => hub.stop())

const remove = (webhookId: string) => hub.call('acme', 'DELETE', `${webhooksPath}/${webhookId}`)

test('takes its settings, its secret, its deliveries and its progress with it, and writes it down once', async () => {
  const rule = { metric: 'error_rate', group_by: 'skill', above: 0.5, window_minutes: 60 }
  const { webhook_id: gone } = await addWebhook(hub, 'acme', {
    description: 'Soon gone',
    ...{ filters: { skill_ids: ['sum-up'] }, thresholds: { latency_ms: 1 }, alerts: [rule] },
  })
  const { webhook_id: other } = await addWebhook(hub)
  for (const each of [gone, other]) {
    await addDeliveries(hub, 'acme', each, { status: 'pending', count: 5001 })
    await addDeliveries(hub, 'acme', each, { status: 'delivered', count: 10, from: 9000 })
  }
  const answer = await remove(gone)
  expect([answer.status, answer.body]).toEqual([200, { webhook_id: gone, removed_at: expect.stringMatching(/Z$/) }])
  expect((await remove(gone)).body).toEqual(answer.body)

  const tables = ['webhook_deliveries', 'webhook_progress', 'webhook_alerts']
  expect(await Promise.all(tables.map((table) => countRows(hub, table, gone)))).toEqual([0, 0, 0])
  expect(await countRows(hub, 'webhook_deliveries', other)).toBe(5011)
  expect(await secretsOf(hub, 'acme', gone)).toBeUndefined()
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query(
    `select url, description, events, filters, thresholds, alerts, length(secret_sealed) as length, former_secret_sealed
     from hub.webhooks where webhook_id = $1`,
    [gone],
  )
  expect(rows).toEqual([
    {
      ...{ url: '', description: null, events: [], filters: {}, thresholds: {}, alerts: [] },
      ...{ length: 0, former_secret_sealed: null },
    },
  ])

  const events = (await webhookEventsOf(hub, 'acme', `webhook:${gone}`)).slice(1)
  expect(events).toMatchObject([
    {
      event_kind: 'tenant.config_changed',
      details: { change: 'webhook_removed', before: { description: 'Soon gone' }, after: null },
    },
  ])
  expect((await hub.call('acme', 'GET', `${webhooksPath}/${gone}`)).status).toBe(404)
})

test('what a crash left of its deliveries goes when it is repeated', async () => {
  const { webhook_id: gone } = await addWebhook(hub)
  await remove(gone)
  await addDeliveries(hub, 'acme', gone, { status: 'dead', count: 3 })
  expect((await remove(gone)).status).toBe(200)
  expect(await countRows(hub, 'webhook_deliveries', gone)).toBe(0)
})

test('28 days later it is forgotten, and one that is there is not', async () => {
  const { webhook_id: gone } = await addWebhook(hub)
  const { webhook_id: kept } = await addWebhook(hub)
  await remove(gone)
  const chore = hub.modules.webhooks.chores.find(({ name }) => name === 'delete removed webhooks')!
  const run = () => hub.test.database.withTenant('acme', (tx) => chore.run(tx))
  const superuser = await hub.superuserClient()
  const removedDaysAgo = (days: number) =>
    superuser.query(`update hub.webhooks set removed_at = now() - make_interval(days => $2) where webhook_id = $1`, [
      ...[gone, days],
    ])
  await removedDaysAgo(27)
  await run()
  expect((await remove(gone)).status).toBe(200)
  await removedDaysAgo(29)
  await run()
  expect((await remove(gone)).status).toBe(404)
  expect(await countRows(hub, 'webhooks', gone)).toBe(0)
  expect((await hub.call('acme', 'GET', `${webhooksPath}/${kept}`)).status).toBe(200)
})

test('one that never was is 404, a query parameter 400', async () => {
  const answer = await remove(`whk_${'0'.repeat(24)}`)
  expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
  expect((await remove(`${id}?force=true`)).status).toBe(400)
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'DELETE', path: `${webhooksPath}/${id}` }),
  wrongScopes: ['hub:purge', 'connector:admin'],
  otherTenant: 404,
})
