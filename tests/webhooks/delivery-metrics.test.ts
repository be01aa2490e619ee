import { afterAll, beforeAll, expect, test } from 'vitest'
import { Metrics } from '../../server/metrics/metrics.ts'
import { QueueAge } from '../../server/modules/webhooks/worker/webhook-dispatcher.ts'
import { answer, hang } from './receiver-behaviours.ts'
import { type LabWebhook, startWebhookLab, type WebhookLab } from './webhook-lab.ts'

let lab: WebhookLab
const metrics = new Metrics()
beforeAll(async () => {
  lab = await startWebhookLab({ start: false })
  lab.hub.modules.webhooks.start(metrics)
})
afterAll(() => lab.stop())

/** As on the page. */
async function series(name: string): Promise<Record<string, number>> {
  const lines = (await metrics.page()).split('\n').filter((line) => line.startsWith(`${name}{`))
  return Object.fromEntries(lines.map((line) => [/"(.*)"/.exec(line)?.[1], Number(line.split(' ').at(-1))]))
}
const waits = () => series('hub_webhook_longest_wait_seconds')

/** As if it had been due for so long. */
async function setDueSince({ webhookId }: LabWebhook, seconds: number): Promise<void> {
  await lab.superuser.query(
    `update hub.webhook_deliveries set next_attempt_at = now() - make_interval(secs => $2)
     where webhook_id = $1 and next_attempt_at is not null`,
    [webhookId, seconds],
  )
  lab.hub.modules.webhooks.worker.wake('acme')
}

test('deliveries are counted by what became of them, and nobody is named', async () => {
  expect(await series('hub_webhook_deliveries_total')).toEqual({})
  const webhooks = [
    await lab.connect(),
    await lab.connect({ behaviour: answer(500) }),
    await lab.connect({ behaviour: answer(410) }),
  ]
  for (const [at, { webhookId }] of webhooks.entries()) await lab.tell('acme', at === 0 ? 3 : 1, [webhookId])
  for (const { deliveriesWhen } of webhooks)
    await deliveriesWhen((rows) => rows.every((row) => row.attempt_count === 1))
  await expect.poll(() => series('hub_webhook_deliveries_total')).toEqual({ delivered: 3, failed: 1, dead: 1 })
  expect(await metrics.page()).not.toMatch(/acme|whk_|127\.0\.0\.1/)
})

test('how long deliveries are due is shown, but not of receivers that fail or are disabled', async () => {
  const [failing, disabled] = [await lab.connect({ behaviour: answer(500) }), await lab.connect({ behaviour: hang })]
  await lab.tell('acme', 1, [failing.webhookId, disabled.webhookId])
  await failing.deliveriesWhen((rows) => rows[0]?.status === 'failed')
  await disabled.change({ enabled: false })
  await setDueSince(disabled, 5_000)
  failing.receiving.behaviour = hang
  await setDueSince(failing, 5_000)
  await failing.receiving.count(2)
  const slow = await lab.connect({ behaviour: hang })
  await lab.tell('acme', 1, [slow.webhookId])
  await slow.receiving.count(1)
  await setDueSince(slow, 600)
  const setMs = Date.now()
  await expect.poll(async () => (await waits()).due).toBeGreaterThan(599)
  const { queued, due } = await waits()
  expect(queued).toEqual(expect.any(Number))
  expect(due).toBeLessThanOrEqual(601 + (Date.now() - setMs) / 1000)
  for (const { path } of [failing, disabled, slow]) await lab.must('acme', 'DELETE', path)
  await expect.poll(async () => (await waits()).due).toBeLessThan(60)
})

test('how long messages wait to become deliveries is shown', async () => {
  const hourAgo = (Date.now() - 3_600_000).toString(16).padStart(12, '0')
  const outboxId = `${hourAgo.slice(0, 8)}-${hourAgo.slice(8)}-7000-8000-000000000000`
  const row = "insert into hub.webhook_outbox (tenant_id, outbox_id, messages) values ('acme', $1, 'unreadable')"
  await lab.superuser.query(row, [outboxId])
  lab.hub.modules.webhooks.worker.wake('acme')
  await expect.poll(async () => (await waits()).queued).toBeGreaterThan(3_599)
  await lab.superuser.query('delete from hub.webhook_outbox')
  lab.hub.modules.webhooks.worker.wake('acme')
  await expect.poll(async () => (await waits()).queued).toBe(0)
})

test('while a tenant cannot be looked at, what waited there goes on to wait', () => {
  let now = 0
  const times = new QueueAge(() => now)
  times.seen('queued', 'acme', 2_000)
  times.seen('due', 'globex', 500)
  now += 20_000
  expect(times.longest()).toEqual({ queued: 2, due: 0.5 })
  now += 100_000
  expect(times.longest()).toEqual({ queued: 122, due: 120.5 })
  times.seen('queued', 'acme', 0)
  times.forget('globex')
  expect(times.longest()).toEqual({ queued: 0, due: 0 })
})
