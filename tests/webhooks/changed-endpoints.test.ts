import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Outcome, saveOutcomes } from '../../server/modules/webhooks/worker/outcome-store.ts'
import { startDeliveringProcess } from './delivering-process.ts'
import { answer, answerAfter, hang, take } from './receiver-behaviours.ts'
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

test('a rotated secret signs at once, beside the one before; of two rotations the newest two; one once the former ended', async () => {
  const webhook = await lab.connect()
  const tell = async () => {
    await lab.tell('acme', 1, [webhook.webhookId])
    const { received } = webhook.receiving
    await webhook.receiving.count(received.length + 1)
    return received.at(-1)
  }
  expect(await tell()).toMatchObject({ signatures: 1, signedBy: [0] })
  await webhook.rotate()
  expect(await tell()).toMatchObject({ signatures: 2, signedBy: [0, 1] })
  await webhook.rotate()
  expect(await tell()).toMatchObject({ signatures: 2, signedBy: [1, 2] })
  await lab.superuser.query('update hub.webhooks set former_secret_until = now() where webhook_id = $1', [
    webhook.webhookId,
  ])
  expect(await tell()).toMatchObject({ signatures: 1, signedBy: [2] })
  expect(webhook.receiving.faults).toEqual([])
})

/** With more messages than are sent at once; the first ones hang there. */
async function hanging(): Promise<LabWebhook> {
  const webhook = await lab.connect({ behaviour: hang })
  await lab.tell('acme', 200, [webhook.webhookId])
  await webhook.receiving.count(2)
  return webhook
}

/** What came, once what hung was broken off; by then the answer to the change is there. */
async function sentBefore({ receiving }: LabWebhook): Promise<number> {
  const sent = receiving.received.length
  receiving.behaviour = take
  await receiving.until(({ open }) => open === 0)
  return sent
}

/** Something was sent since, to another endpoint: nothing more was to the one that was changed. */
async function expectNoMore({ receiving, webhookId }: LabWebhook, sent: number): Promise<void> {
  const witness = await lab.connect()
  await lab.tell('acme', 1, [webhookId, witness.webhookId])
  await witness.receiving.count(1)
  expect(receiving.received).toHaveLength(sent)
}

test('removed while messages are on their way: they are broken off, none is begun, and nothing of it stays', async () => {
  const webhook = await hanging()
  await lab.must('acme', 'DELETE', webhook.path)
  await expectNoMore(webhook, await sentBefore(webhook))
  expect(await webhook.deliveries()).toEqual([])
  const { rows } = await lab.superuser.query('select 1 from hub.webhook_progress where webhook_id = $1', [
    webhook.webhookId,
  ])
  expect(rows).toEqual([])
  expect(lab.hub.logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([])
})

test('disabled while messages are on their way: they are broken off, and go on once it is enabled', async () => {
  const webhook = await hanging()
  await webhook.change({ enabled: false })
  await expectNoMore(webhook, await sentBefore(webhook))
  expect((await webhook.deliveries()).map(({ attempt_count }) => attempt_count)).toEqual(Array(200).fill(0))
  await webhook.change({ enabled: true })
  await webhook.deliveriesWhen((rows) => rows.length === 200 && rows.every(({ status }) => status === 'delivered'))
  expect((await webhook.get()).health).toMatchObject({ status: 'ok', failures: 0, pending: 0 })
})

test('moved while messages are on their way: all of them go to the other address at once', async () => {
  const webhook = await hanging()
  const other = lab.receiver.at('/moved-at-work')
  other.secrets = webhook.receiving.secrets
  await webhook.change({ url: other.url })
  await expectNoMore(webhook, await sentBefore(webhook))
  await other.until(() => other.taken().size === 201)
  expect([other.duplicates(), other.faults]).toEqual([0, []])
  const rows = await webhook.deliveriesWhen((all) => all.every(({ status }) => status === 'delivered'))
  expect(new Set(rows.map(({ attempt_count }) => attempt_count))).toEqual(new Set([1]))
})

test('changed over and over under load: nothing begins at an address after it was left', async () => {
  const places = Array.from({ length: 6 }, (_, at) => lab.receiver.at(`/wandering/${at}`))
  const webhook = await lab.connect({ path: '/wandering/0', behaviour: answerAfter(1) })
  for (const place of places) Object.assign(place, { behaviour: answerAfter(1), secrets: webhook.receiving.secrets })
  const left: number[] = []
  for (const [at, place] of places.entries()) {
    await lab.tell('acme', 150, [webhook.webhookId])
    await place.count(5)
    const next = places[at + 1]
    if (!next) continue
    await webhook.change({ url: next.url })
    left.push(place.received.length)
  }
  await webhook.deliveriesWhen((rows) => rows.length === 900 && rows.every(({ status }) => status === 'delivered'))
  // What was on its way as the change was answered may still have come in.
  for (const [at, count] of left.entries()) expect(places[at]!.received.length - count).toBeLessThanOrEqual(16)
  expect(places.flatMap(({ faults }) => faults)).toEqual([])
})

test.each(['removed', 'disabled', 'moved'])('%s: another process stops within a second, too', async (how) => {
  await lab.hub.modules.webhooks.worker.stop()
  const process = await startDeliveringProcess(lab.hub)
  try {
    const webhook = await hanging()
    if (how === 'removed') await lab.must('acme', 'DELETE', webhook.path)
    else await webhook.change(how === 'moved' ? { url: lab.receiver.at('/away').url } : { enabled: false })
    await expectNoMore(webhook, await sentBefore(webhook))
  } finally {
    await process.stop()
    lab.hub.modules.webhooks.worker.start()
  }
})

test('what a former address had answered says nothing of the one that it is at now', async () => {
  const webhook = await lab.connect()
  const { webhookId, receiving } = webhook
  const other = lab.receiver.at('/sound')
  await webhook.change({ url: other.url })
  await lab.tell('acme', 1, [webhookId])
  const [row] = await webhook.deliveriesWhen(([first]) => first?.status === 'delivered')
  const attempt = { ...row!.attempts[0]!, url: receiving.url, error: { code: 'http-5xx' as const, detail: 'Away.' } }
  const outcome = (url: string): Outcome => ({
    delivery: { delivery_id: row!.delivery_id, webhook_id: webhookId, tries: 0, attempt_count: 0 },
    ...{ status: 'dead', attempts: [{ ...attempt, url }], counts: true, isGone: true },
  })
  const keep = (...outcomes: Outcome[]) =>
    lab.hub.test.database.withTenant('acme', (tx) => saveOutcomes(tx, outcomes, 120))
  expect(await keep(outcome(receiving.url))).toEqual({ failing: [], gone: [] })
  expect((await webhook.get()).health).toMatchObject({ status: 'ok', failures: 0 })
  expect(await keep(outcome(receiving.url), outcome(other.url))).toEqual({ failing: [], gone: [webhookId] })
  expect((await webhook.get()).health).toMatchObject({ status: 'failing', failures: 1 })
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
