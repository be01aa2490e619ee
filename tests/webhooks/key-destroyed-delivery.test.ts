import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { customerKeySecretsCachedMs } from '../../server/modules/webhooks/worker/tenant-dispatcher.ts'
import { type ModeB, modeB } from '../cmek/mode-b-lab.ts'
import { type DeliveringProcess, startDeliveringProcess } from './delivering-process.ts'
import { answerAfter } from './receiver-behaviours.ts'
import { startWebhookLab, type WebhookLab, webhooksPath } from './webhook-lab.ts'

let lab: WebhookLab
let b: ModeB
let process: DeliveringProcess | undefined
beforeAll(async () => {
  lab = await startWebhookLab({ start: false })
  b = await modeB(lab.hub, 'ending')
  await b.ready()
})
afterEach(async () => {
  await process?.stop()
})
afterAll(() => lab.stop())

test('once a key is destroyed, a process that signs by secrets under it stops, and what waits is dead', async () => {
  const receiving = lab.receiver.at('/ending')
  receiving.behaviour = answerAfter(50)
  const made = await b.call('POST', webhooksPath, { url: receiving.url, events: ['user.*'] })
  receiving.secrets = [made.body.secret]
  const message = { kind: 'user.updated', occurredAt: '2026-11-22T00:00:00.000000Z', data: {} }
  const { outbox } = lab.hub.modules.webhooks
  await lab.hub.test.database.withTenant('ending', (tx) => outbox.add(tx, Array(5_000).fill(message)))
  process = await startDeliveringProcess(lab.hub)
  await receiving.count(50)
  await b.call('POST', '/api/v1/hub/cmek:destroy', { confirm: 'ending', reason: 'over' })
  const statusOf = async (status: string) =>
    (await b.call('GET', `${webhooksPath}/${made.body.webhook_id}/deliveries?status=${status}&limit=1`)).body.items
  await expect.poll(() => statusOf('dead')).toHaveLength(1)
  const [dead] = await statusOf('dead')
  expect(dead.last_attempt.error.code).toBe('key-destroyed')
  await expect.poll(() => statusOf('pending')).toEqual([])
  expect(receiving.received.length).toBeLessThan(5_000)
})

test('secrets that were read are good for less than the five seconds that are promised', () => {
  expect(customerKeySecretsCachedMs).toBeLessThan(5_000)
})

test('without its key nothing is signed, and what waits is dead at once', async () => {
  const webhook = await lab.connect()
  await lab.superuser.query(
    `update hub.webhooks set disabled_at = now(), disabled_reason = 'by_hand', updated_at = now()
     where webhook_id = $1`,
    [webhook.webhookId],
  )
  const { endpoints, worker } = lab.hub.modules.webhooks
  worker.start()
  const { secretsOf } = endpoints
  endpoints.secretsOf = async (tx, tenant, id) => (id === webhook.webhookId ? undefined : secretsOf(tx, tenant, id))
  await webhook.change({ enabled: true })
  await lab.tell('acme', 2, [webhook.webhookId])
  const rows = await webhook.deliveriesWhen((all) => all.length === 2 && all.every(({ status }) => status === 'dead'))
  expect(rows[0]?.attempts).toMatchObject([{ error: { code: 'key-destroyed' } }])
  expect(webhook.receiving.received).toEqual([])
  expect(await webhook.get()).toMatchObject({ enabled: true, health: { failures: 0 } })
})
