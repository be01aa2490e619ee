import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pathOf, recordsPath } from '../api/record-cases.ts'
import { startDeliveringProcess } from './delivering-process.ts'
import { answer, answerAfter, type Behaviour, take } from './receiver-behaviours.ts'
import { type LabWebhook, startWebhookLab, type WebhookLab } from './webhook-lab.ts'

/** What a process has read, and what was erased since. */

let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab()
})
afterAll(() => lab.stop())

const needleOf = (at: number) => `needle-${at}.`

/** Governance events that are told to an endpoint; answers the ids of their records. */
async function write(count: number): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < count; at += 1) {
    const body = { record_type: 'governance_event', event_kind: 'custom.kept', details: { text: needleOf(at) } }
    ids.push((await lab.must('acme', 'POST', recordsPath, { body })).body.record_id)
  }
  return ids
}

async function erase(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await lab.must('acme', 'POST', pathOf(id, '/legal-hold-releases'), { body: { reason: 'test' } })
    await lab.must('acme', 'DELETE', pathOf(id, '?reason=test'))
  }
  const acme = await lab.hub.tenant('acme')
  const { erased } = await lab.hub.modules.hub.erasure.run(acme, { asOf: '2999-01-01T00:00:00.000000Z' })
  expect(erased).toBe(ids.length)
}

const sent = ({ receiving }: LabWebhook, at: number) =>
  receiving.received.filter(({ raw }) => raw.includes(needleOf(at))).length

/** A receiver that answers only once it is told to. */
function patient() {
  const waiting: ServerResponse[] = []
  const behaviour: Behaviour = (response) => void waiting.push(response)
  return {
    behaviour,
    answer: () =>
      waiting.splice(0).map((response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('I heard it')),
  }
}

test.each(['this process', 'another process'])('erased while %s has it in memory: it is not sent', async (which) => {
  const { worker } = lab.hub.modules.webhooks
  await worker.stop()
  const { behaviour, answer } = patient()
  const webhook = await lab.connect({ events: ['governance.custom.*'], behaviour })
  const ids = await write(40)
  const other = which === 'another process' ? await startDeliveringProcess(lab.hub) : undefined
  if (!other) worker.start()
  await webhook.receiving.count(2)
  const waiting = ids.map((_, at) => at).filter((at) => sent(webhook, at) === 0)
  // The last in the queue: the first may be sent before they are erased, once two attempts have run out of time.
  const victims = waiting.slice(-5)
  await erase(victims.map((at) => ids[at]!))
  // What was read is as old as it may be then, should word be slow.
  if (other) await delay(1_100)
  webhook.receiving.behaviour = take
  answer()
  const rows = await webhook.deliveriesWhen((all) => all.filter(({ status }) => status === 'delivered').length === 35)
  expect(rows.filter(({ status }) => status === 'dead')).toHaveLength(5)
  for (const at of victims) expect(sent(webhook, at)).toBe(0)
  await other?.stop()
  if (other) worker.start()
  await lab.must('acme', 'DELETE', webhook.path)
})

test('erased while it is on its way: that it was sent is logged, and nothing of the answer', async () => {
  const { behaviour, answer } = patient()
  const webhook = await lab.connect({ events: ['governance.custom.*'], behaviour })
  const ids = await write(2)
  await webhook.receiving.count(2)
  await erase(ids.slice(0, 1))
  expect((await webhook.deliveries()).map(({ status }) => status)).toEqual(['dead', 'pending'])
  answer()
  const [erased, other] = await webhook.deliveriesWhen((all) => all.every(({ status }) => status === 'delivered'))
  expect(erased).toMatchObject({ attempt_count: 1, next_attempt_at: null, attempts: [{ response: { status: 200 } }] })
  expect(erased!.attempts[0]!.response).toEqual({ status: 200, headers: {} })
  expect(other!.attempts[0]!.response).toMatchObject({ status: 200, body: 'I heard it' })
  await lab.must('acme', 'DELETE', webhook.path)
})

test('what was read more than a second ago is read again, whether word of a change came or not', async () => {
  await lab.hub.modules.webhooks.worker.stop()
  const webhook = await lab.connect({ behaviour: answerAfter(800) })
  await lab.tell('acme', 40, [webhook.webhookId])
  lab.hub.modules.webhooks.worker.start()
  await webhook.receiving.count(2)
  // Behind the back of the service, as if word were lost.
  const { rows } = await lab.superuser.query(
    `update hub.webhook_deliveries set next_attempt_at = null, status = 'dead', data = null
     where webhook_id = $1 and sequence > 20 returning message_id`,
    [webhook.webhookId],
  )
  const before = webhook.receiving.received.length
  await webhook.deliveriesWhen((all) => all.filter(({ status }) => status === 'delivered').length >= 20)
  const dead = new Set(rows.map(({ message_id }) => message_id))
  const sentAfter = webhook.receiving.received.slice(before).filter(({ id }) => dead.has(id))
  // Each request takes 800 ms and two begin at a time, so in the second that is allowed four can begin.
  expect(sentAfter.length).toBeLessThanOrEqual(4)
  expect(webhook.receiving.duplicates()).toBe(0)
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
