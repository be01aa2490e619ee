import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRelay } from '../../server/modules/webhooks/delivery/relay.ts'
import { type QueuedMessage, writeMessages } from '../../server/modules/webhooks/outbox/outbox-message.ts'
import type { OutgoingMessage } from '../../server/modules/webhooks/webhooks-types.ts'
import { answer, take } from './receiver-behaviours.ts'
import { messageOf, startWebhookLab, type WebhookLab } from './webhook-lab.ts'

let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab()
})
afterAll(() => lab.stop())

const relayDeps = () => ({
  endpoints: lab.hub.modules.webhooks.endpoints,
  clock: lab.hub.modules.recordStore.clock,
  log: { error: () => {} },
})
const waiting = async () => (await lab.superuser.query('select outbox_id from hub.webhook_outbox')).rows

test('each endpoint that wants a kind gets it, with the same id and sequences of its own', async () => {
  const users = await lab.connect({ events: ['user.*'] })
  const skills = await lab.connect({ events: ['skill.*'] })
  const both = await lab.connect({ events: ['user.updated', 'skill.invocation_failed'] })
  const message = messageOf()
  const kinds = ['user.updated', 'skill.invocation_failed', 'user.deactivated', 'skill.cost_exceeded', 'other.kind']
  await lab.tell(
    'acme',
    kinds.map((kind) => ({ ...message, kind })),
  )
  const got = async ({ receiving }: typeof users, count: number) =>
    (await receiving.count(count))
      .map(({ body }) => body)
      .sort((a, b) => a.sequence - b.sequence)
      .map(({ kind, sequence }) => [kind, sequence])
  expect(await got(users, 2)).toEqual([
    ['user.updated', 1],
    ['user.deactivated', 2],
  ])
  expect(await got(skills, 2)).toEqual([
    ['skill.invocation_failed', 1],
    ['skill.cost_exceeded', 2],
  ])
  expect(await got(both, 2)).toEqual([
    ['user.updated', 1],
    ['skill.invocation_failed', 2],
  ])
  const idOf = ({ receiving }: typeof users) => receiving.received.find(({ body }) => body.kind === 'user.updated')?.id
  expect(idOf(users)).toBe(idOf(both))
  expect(await waiting()).toEqual([])
})

test('a message for some endpoints goes to them alone, whatever they name, and to none that is disabled', async () => {
  const named = await lab.connect({ events: ['user.*'] })
  const other = await lab.connect({ events: ['skill.*'] })
  const disabled = await lab.connect({ events: ['skill.*'] })
  await disabled.change({ enabled: false })
  await lab.tell('acme', 1, [named.webhookId, disabled.webhookId, 'whk_gone'])
  await named.receiving.count(1)
  expect([await other.deliveries(), await disabled.deliveries()]).toEqual([[], []])
})

test('sequences have no gaps, over many rows and turns, in the order in which messages were queued', async () => {
  const webhook = await lab.connect({ tenant: 'globex' })
  for (let round = 0; round < 3; round += 1) await lab.tell('globex', 700)
  const rows = await webhook.deliveriesWhen(
    (all) => all.length === 2100 && all.every(({ status }) => status === 'delivered'),
    30_000,
  )
  expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 2100 }, (_, at) => at + 1))
  const numbers = webhook.receiving.received
    .toSorted((a, b) => a.sequence - b.sequence)
    .map(({ body }) => body.data.number)
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  expect([webhook.receiving.duplicates(), webhook.receiving.faults]).toEqual([0, []])
})

test('a row that cannot be read stays, and holds up nothing', async () => {
  const webhook = await lab.connect({ tenant: 'globex', events: ['user.*'] })
  const first = '00000000-0000-7000-8000-000000000001'
  await lab.superuser.query('insert into hub.webhook_outbox (tenant_id, outbox_id, messages) values ($1, $2, $3)', [
    'globex',
    first,
    writeMessages([]).replace('"v":1', '"v":2'),
  ])
  await lab.tell('globex', 3, [webhook.webhookId])
  await webhook.receiving.count(3)
  expect(await waiting()).toEqual([{ outbox_id: first }])
  expect(lab.hub.logLines.filter((line) => line.includes('messages that wait cannot be read'))).toHaveLength(1)
  await lab.superuser.query('delete from hub.webhook_outbox')
})

/** Keeps a row by itself, as a process of another version may. */
async function leave(messages: string, tenant = 'globex'): Promise<string> {
  const outboxId = lab.hub.modules.recordStore.clock.next().recordId
  await lab.superuser.query('insert into hub.webhook_outbox (tenant_id, outbox_id, messages) values ($1, $2, $3)', [
    ...[tenant, outboxId, messages],
  ])
  return outboxId
}

/** With an id, as a row has it. */
const queued = (message: OutgoingMessage): QueuedMessage => ({
  ...message,
  messageId: lab.hub.modules.recordStore.clock.next().recordId,
})

test('a row of which no deliveries can be made is left alone, and the others are relayed', async () => {
  const { worker } = lab.hub.modules.webhooks
  await worker.stop()
  const webhook = await lab.connect({ tenant: 'globex', events: ['user.updated'] })
  const good = () => queued({ ...messageOf(), kind: 'user.updated' })
  await leave(writeMessages([good()]))
  const bad = await leave(writeMessages([good(), { ...good(), occurredAt: 'never' }]))
  await leave(writeMessages([good(), good()]))
  worker.start()
  worker.wake('globex')
  await webhook.receiving.count(3)
  expect(await waiting()).toEqual([{ outbox_id: bad }])
  await lab.tell('globex', [good()])
  await webhook.receiving.count(4)
  expect(webhook.receiving.received.map(({ sequence }) => sequence).sort()).toEqual([1, 2, 3, 4])
  const lines = lab.hub.logLines.filter((line) => line.includes('could not be made deliveries'))
  expect(lines.map((line) => JSON.parse(line).outboxId)).toEqual([bad])
  await lab.superuser.query('delete from hub.webhook_outbox')
})

test('while nothing can be relayed, what is due is delivered', async () => {
  const webhook = await lab.connect({ tenant: 'globex', behaviour: answer(500) })
  await lab.tell('globex', 1, [webhook.webhookId])
  await webhook.deliveriesWhen(([row]) => row?.status === 'failed')
  await lab.superuser.query('revoke delete on hub.webhook_outbox from hub_app')
  webhook.receiving.behaviour = take
  await lab.tell('globex', 1, [webhook.webhookId])
  await webhook.makeDue()
  await webhook.deliveriesWhen(([row]) => row?.status === 'delivered')
  expect(await waiting()).toHaveLength(1)
  await lab.superuser.query('grant delete on hub.webhook_outbox to hub_app')
})

test('large messages to many endpoints: a part of a row at a time, and the process goes on with its other work', async () => {
  const { worker } = lab.hub.modules.webhooks
  await worker.stop()
  const webhooks = await Promise.all(Array.from({ length: 50 }, () => lab.connect({ events: ['user.provisioned'] })))
  // Characters that are escaped once more with each layer of JSON.
  const text = '\\'.repeat(8_000)
  const messages = Array.from({ length: 60 }, (_, at) => ({
    ...messageOf(),
    kind: 'user.provisioned',
    data: { text, at },
    webhookIds: webhooks.map(({ webhookId }) => webhookId),
  }))
  await leave(writeMessages(messages.map(queued)), 'acme')
  // And as from before there was a limit: more than fits a transaction by itself.
  await leave(writeMessages([queued({ ...messages[0]!, data: { text: '\\'.repeat(500_000) } })]), 'acme')
  const relay = createRelay({ ...relayDeps(), database: lab.hub.test.database })
  const delays = monitorEventLoopDelay({ resolution: 1 })
  const counts = []
  for (let isMore = true; isMore; ) {
    delays.enable()
    isMore = (await relay.run('acme')).isMore
    delays.disable()
    const { rows } = await lab.superuser.query(
      `select count(*)::int as count from hub.webhook_deliveries where kind = 'user.provisioned'`,
    )
    counts.push(rows[0].count)
  }
  expect(counts.slice(0, 2)).toEqual([20 * 50, 40 * 50])
  expect(counts.at(-1)).toBe(61 * 50)
  expect(delays.max / 1e6).toBeLessThan(200)
  for (const { deliveries } of webhooks.slice(0, 2)) {
    const rows = await deliveries()
    expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, at) => at + 1))
    expect(rows).toHaveLength(61)
  }
  const { rows } = await lab.superuser.query(
    `select data from hub.webhook_deliveries where kind = 'user.provisioned' and webhook_id = $1 order by sequence`,
    [webhooks[0]!.webhookId],
  )
  expect(rows.slice(0, 60).map(({ data }) => JSON.parse(data))).toEqual(messages.map(({ data }) => data))
  for (const webhook of webhooks) await lab.must('acme', 'DELETE', webhook.path)
  worker.start()
})
