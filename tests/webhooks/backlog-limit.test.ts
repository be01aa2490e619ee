import { afterAll, beforeAll, expect, test } from 'vitest'
import { BacklogLimit, dueForLook, messagesPerLook } from '../../server/modules/webhooks/worker/relay.ts'
import { addDeliveries, webhookEventsOf } from '../api/webhook-cases.ts'
import { startDeliveringProcess } from './delivering-process.ts'
import { answer } from './receiver-behaviours.ts'
import { type LabWebhook, startWebhookLab, type WebhookLab } from './webhook-lab.ts'

let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab({ start: false })
})
afterAll(() => lab.stop())

const openMax = 20
const check = async ({ tenant, webhookId }: LabWebhook) =>
  new BacklogLimit({ database: lab.hub.test.database, endpoints: lab.hub.modules.webhooks.endpoints }, openMax).check(
    await lab.hub.tenant(tenant),
    [webhookId],
  )
const overflows = async ({ tenant, webhookId }: LabWebhook) =>
  (await webhookEventsOf(lab.hub, tenant, `webhook:${webhookId}`)).filter(
    ({ event_kind }: { event_kind: string }) => event_kind === 'webhook.overflowed',
  )
const statusesOf = async (webhook: LabWebhook) =>
  (await webhook.deliveries()).map(({ sequence, status }) => [sequence, status])
const giveUpAll = ({ webhookId }: LabWebhook, above: number) =>
  lab.superuser.query(
    `update hub.webhook_deliveries set status = 'dead', next_attempt_at = null
     where webhook_id = $1 and next_attempt_at is not null and sequence > $2`,
    [webhookId, above],
  )

test('of what waits beyond the limit the oldest are given up, but for what may be on its way', async () => {
  const webhook = await lab.connect({ url: 'https://hooks.example/secret-path' })
  await addDeliveries(lab.hub, 'acme', webhook.webhookId, { status: 'pending', count: 20 })
  await check(webhook)
  expect((await statusesOf(webhook)).every(([, status]) => status === 'pending')).toBe(true)
  expect((await webhook.get()).health).not.toHaveProperty('overflowing_since')
  expect(await overflows(webhook)).toEqual([])

  await addDeliveries(lab.hub, 'acme', webhook.webhookId, { status: 'failed', count: 30, from: 21 })
  await check(webhook)
  const after = await statusesOf(webhook)
  expect(after.filter(([, status]) => status === 'dead').map(([sequence]) => sequence)).toEqual(
    Array.from({ length: 30 }, (_, at) => 11 + at),
  )
  const dead = (await webhook.deliveries()).find(({ status }) => status === 'dead')!
  expect(dead).toMatchObject({ attempt_count: 0, next_attempt_at: null })
  const shown = (await lab.must('acme', 'GET', `${webhook.path}/deliveries/${dead.delivery_id}`)).body
  expect(shown.last_attempt.error).toEqual({ code: 'overflow', detail: expect.stringContaining('20 messages') })
  const { health } = await webhook.get()
  expect(health).toMatchObject({ overflowing_since: expect.stringMatching(/Z$/), pending: 20, dead: 30 })
  const again = await lab.must('acme', 'POST', `${webhook.path}/deliveries/${dead.delivery_id}:redeliver`)
  expect(again.body.status).toBe('pending')
})

test('it is told once, until half as many wait', async () => {
  const webhook = await lab.connect()
  await addDeliveries(lab.hub, 'acme', webhook.webhookId, { status: 'pending', count: 30 })
  await check(webhook)
  const details = { url: new URL(webhook.receiving.url).origin, waiting_max: openMax, actor: 'service:webhooks' }
  expect(await overflows(webhook)).toMatchObject([{ created_by: 'service:hub', details }])
  const { overflowing_since } = (await webhook.get()).health
  await addDeliveries(lab.hub, 'acme', webhook.webhookId, { status: 'pending', count: 30, from: 31 })
  await check(webhook)
  expect((await webhook.get()).health.overflowing_since).toBe(overflowing_since)
  await giveUpAll(webhook, 51)
  await check(webhook)
  expect((await webhook.get()).health.overflowing_since).toBe(overflowing_since)
  await giveUpAll(webhook, 5)
  await check(webhook)
  expect((await webhook.get()).health).not.toHaveProperty('overflowing_since')
  await addDeliveries(lab.hub, 'acme', webhook.webhookId, { status: 'pending', count: 30, from: 61 })
  await check(webhook)
  expect(await overflows(webhook)).toHaveLength(2)
})

test('more than one transaction takes are given up, and messages that test an endpoint are not', async () => {
  const webhook = await lab.connect({ tenant: 'globex' })
  await addDeliveries(lab.hub, 'globex', webhook.webhookId, { status: 'pending', count: 4_500 })
  await lab.superuser.query(
    `update hub.webhook_deliveries set kind = 'webhook.test' where webhook_id = $1 and sequence = 100`,
    [webhook.webhookId],
  )
  await check(webhook)
  const open = (await webhook.deliveries()).filter(({ status }) => status === 'pending')
  expect(open.map(({ sequence }) => sequence)).toEqual([
    ...Array.from({ length: 10 }, (_, at) => 1 + at),
    100,
    ...Array.from({ length: 9 }, (_, at) => 4_492 + at),
  ])
  expect(await overflows(webhook)).toHaveLength(1)
})

test('how much waits is looked at once for so many messages', () => {
  const of = (count: number, last: number) => dueForLook(new Map([['whk_1', count]]), new Map([['whk_1', last]]))
  expect([of(10, 10), of(1, messagesPerLook - 1), of(1, messagesPerLook + 1)]).toEqual([[], [], []])
  expect([of(1, messagesPerLook), of(10, messagesPerLook + 9), of(3 * messagesPerLook, 4 * messagesPerLook)]).toEqual(
    Array(3).fill(['whk_1']),
  )
})

test('a process that delivers looks as messages come', async () => {
  const webhook = await lab.connect({ behaviour: answer(500) })
  await lab.superuser.query('update hub.webhook_progress set last_sequence = $2 where webhook_id = $1', [
    ...[webhook.webhookId, messagesPerLook - 30],
  ])
  const other = await startDeliveringProcess(lab.hub, {}, { openMax })
  try {
    await lab.tell('acme', 60, [webhook.webhookId])
    other.wake('acme')
    const rows = await webhook.deliveriesWhen((all) => all.some(({ status }) => status === 'dead'))
    const dead = rows.filter(({ status }) => status === 'dead')
    expect(dead).toHaveLength(40)
    expect(dead.every(({ attempts }) => attempts.at(-1)!.error!.code === 'overflow')).toBe(true)
    expect(await overflows(webhook)).toHaveLength(1)
  } finally {
    await other.stop()
  }
})
