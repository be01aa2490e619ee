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
