import { afterAll, beforeAll, expect, test } from 'vitest'
import { answer, take } from './receiver-behaviours.ts'
import { startWebhookLab, type WebhookLab } from './webhook-lab.ts'

let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab()
})
afterAll(() => lab.stop())

test('a test reaches an endpoint that is disabled, once, and what waits for it stays', async () => {
  const webhook = await lab.connect({ behaviour: answer(500) })
  await lab.tell('acme', 2, [webhook.webhookId])
  await webhook.deliveriesWhen((rows) => rows.length === 2 && rows.every(({ attempt_count }) => attempt_count === 1))
  await webhook.change({ enabled: false })
  webhook.receiving.behaviour = answer(410)
  await lab.must('acme', 'POST', `${webhook.path}:test`)
  const rows = await webhook.deliveriesWhen((all) => all.at(-1)?.status === 'dead')
  expect(rows.map(({ kind, status, attempt_count }) => [kind, status, attempt_count])).toEqual([
    ['skill.invocation_failed', 'failed', 1],
    ['skill.invocation_failed', 'failed', 1],
    ['webhook.test', 'dead', 1],
  ])
  expect(await webhook.get()).toMatchObject({ enabled: false, disabled_reason: 'by_hand' })
  webhook.receiving.behaviour = take
  await webhook.change({ enabled: true })
  await webhook.makeDue()
  await webhook.deliveriesWhen((all) => all.filter(({ status }) => status === 'delivered').length === 2)
})

test('a test is sent before what waits', async () => {
  const webhook = await lab.connect()
  const { worker } = lab.hub.modules.webhooks
  await worker.stop()
  await lab.tell('acme', 40, [webhook.webhookId])
  await lab.must('acme', 'POST', `${webhook.path}:test`)
  worker.start()
  await webhook.receiving.count(41)
  const place = webhook.receiving.received.findIndex(({ body }) => body.kind === 'webhook.test')
  // A message or two may have been on their way before the outbox was empty.
  expect(place).toBeLessThan(4)
})

test('an endpoint that is removed gets nothing more, and one that is changed gets it at its new address', async () => {
  const webhook = await lab.connect({ behaviour: answer(500) })
  const elsewhere = lab.receiver.at('/elsewhere')
  await lab.tell('acme', 1, [webhook.webhookId])
  await webhook.deliveriesWhen(([row]) => row?.attempt_count === 1)
  await webhook.change({ url: elsewhere.url })
  await webhook.makeDue()
  await webhook.deliveriesWhen(([row]) => row?.status === 'delivered')
  expect([elsewhere.received.length, webhook.receiving.received.length]).toEqual([1, 1])
  elsewhere.behaviour = answer(500)
  await lab.tell('acme', 3, [webhook.webhookId])
  await elsewhere.count(4)
  await lab.must('acme', 'DELETE', webhook.path)
  const other = await lab.connect()
  await lab.tell('acme', 1, [other.webhookId, webhook.webhookId])
  await other.receiving.count(1)
  expect(elsewhere.received).toHaveLength(4)
})

test('data that was erased is not sent', async () => {
  const webhook = await lab.connect({ behaviour: answer(500) })
  await lab.tell('acme', 1, [webhook.webhookId])
  await webhook.deliveriesWhen(([row]) => row?.attempt_count === 1)
  await lab.superuser.query('update hub.webhook_deliveries set data = null where webhook_id = $1', [webhook.webhookId])
  await webhook.makeDue()
  const [row] = await webhook.deliveriesWhen(([each]) => each?.status === 'dead')
  expect([row?.attempt_count, webhook.receiving.received.length]).toEqual([1, 1])
})

test('without its key nothing is signed, and what waits is dead at once', async () => {
  const webhook = await lab.connect()
  await lab.superuser.query(
    `update hub.webhooks set disabled_at = now(), disabled_reason = 'by_hand', updated_at = now()
     where webhook_id = $1`,
    [webhook.webhookId],
  )
  const { endpoints } = lab.hub.modules.webhooks
  const { secretsOf } = endpoints
  endpoints.secretsOf = async (tx, tenant, id) => (id === webhook.webhookId ? undefined : secretsOf(tx, tenant, id))
  await webhook.change({ enabled: true })
  await lab.tell('acme', 2, [webhook.webhookId])
  const rows = await webhook.deliveriesWhen((all) => all.length === 2 && all.every(({ status }) => status === 'dead'))
  expect(rows[0]?.attempts).toMatchObject([{ error: { code: 'key-destroyed' } }])
  expect(webhook.receiving.received).toEqual([])
  expect(await webhook.get()).toMatchObject({ enabled: true, health: { failures: 0 } })
})
