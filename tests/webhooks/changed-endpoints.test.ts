import { afterAll, beforeAll, expect, test } from 'vitest'
import { answer, take } from './receiver-behaviours.ts'
import { type LabWebhook, startWebhookLab, type WebhookLab } from './webhook-lab.ts'

/** An endpoint that is changed while messages are on their way to it. */

let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab()
})
afterAll(() => lab.stop())

/** One that has failed once, with one message that waits. */
async function failedOnce(): Promise<LabWebhook> {
  const webhook = await lab.connect({ behaviour: answer(500) })
  await lab.tell('acme', 1, [webhook.webhookId])
  await webhook.deliveriesWhen(([first]) => first?.status === 'failed')
  return webhook
}

test('another address: what waits goes there, as the same message', async () => {
  const webhook = await failedOnce()
  const other = lab.receiver.at('/moved')
  other.secrets = webhook.receiving.secrets
  await webhook.change({ url: other.url })
  expect((await webhook.get()).health).toMatchObject({ status: 'waiting', failures: 0, pending: 1 })
  await webhook.makeDue()
  const [moved] = await other.count(1)
  await webhook.deliveriesWhen(([first]) => first?.status === 'delivered')
  expect([moved!.id, moved!.sequence]).toEqual([webhook.receiving.received[0]!.id, 1])
  expect([webhook.receiving.received.length, other.faults]).toEqual([1, []])
  expect((await webhook.get()).health).toMatchObject({ status: 'ok', failures: 0, pending: 0 })
})

test('disabled by hand: nothing is sent nor collected, and what waits goes on once it is enabled', async () => {
  const webhook = await failedOnce()
  const witness = await lab.connect()
  await webhook.change({ enabled: false })
  await webhook.makeDue()
  await lab.tell('acme', 3, [webhook.webhookId, witness.webhookId])
  await witness.receiving.count(3)
  expect(webhook.receiving.received).toHaveLength(1)
  expect(await webhook.deliveries()).toMatchObject([{ sequence: 1, status: 'failed' }])
  expect((await webhook.get()).health).toMatchObject({ status: 'disabled', pending: 1 })

  webhook.receiving.behaviour = answer(200)
  await webhook.change({ enabled: true })
  await webhook.receiving.count(2)
  await lab.tell('acme', 1, [webhook.webhookId])
  await webhook.deliveriesWhen((rows) => rows.length === 2 && rows.every(({ status }) => status === 'delivered'))
  expect(webhook.receiving.received.map(({ sequence }) => sequence)).toEqual([1, 1, 2])
})

test('a rotated secret signs at once, beside the one before; of two rotations the newest two', async () => {
  const webhook = await lab.connect()
  const [first] = webhook.receiving.secrets
  await lab.tell('acme', 1, [webhook.webhookId])
  await webhook.receiving.count(1)
  await webhook.rotate()
  await lab.tell('acme', 1, [webhook.webhookId])
  await webhook.receiving.count(2)
  await webhook.rotate()
  await lab.tell('acme', 1, [webhook.webhookId])
  await webhook.receiving.count(3)
  expect(webhook.receiving.secrets[0]).toBe(first)
  const signedBy = webhook.receiving.received.map((message) => [...message.signedBy].sort())
  expect(signedBy).toEqual([[0], [0, 1], [1, 2]])
  expect(webhook.receiving.faults).toEqual([])
})

test('removed while a message is on its way: it is sent no more, and nothing of it stays', async () => {
  const held: (() => void)[] = []
  const webhook = await lab.connect({ behaviour: (...call) => void held.push(() => take(...call)) })
  const witness = await lab.connect()
  await lab.tell('acme', 5, [webhook.webhookId])
  await webhook.receiving.count(2)
  const sent = webhook.receiving.received.length
  await lab.must('acme', 'DELETE', webhook.path)
  // By then the worker has looked at the endpoints again.
  await lab.tell('acme', 1, [webhook.webhookId, witness.webhookId])
  await witness.receiving.count(1)
  for (const answerNow of held) answerNow()
  await webhook.receiving.until(({ open }) => open === 0)
  await lab.tell('acme', 1, [webhook.webhookId, witness.webhookId])
  await witness.receiving.count(2)
  expect([await webhook.deliveries(), webhook.receiving.received.length]).toEqual([[], sent])
  const { rows } = await lab.superuser.query('select 1 from hub.webhook_progress where webhook_id = $1', [
    webhook.webhookId,
  ])
  expect(rows).toEqual([])
  expect(lab.hub.logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([])
})

test('other events: those that it names no more are not collected', async () => {
  const webhook = await lab.connect({ events: ['skill.*'] })
  const witness = await lab.connect()
  await webhook.change({ events: ['user.*'] })
  await lab.tell('acme', 2)
  await witness.receiving.count(2)
  await webhook.change({ events: ['skill.invocation_failed'] })
  await lab.tell('acme', 1)
  await webhook.receiving.count(1)
  expect(webhook.receiving.received.map(({ sequence }) => sequence)).toEqual([1])
})
