import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type QueuedMessage, writeMessages } from '../../server/modules/webhooks/outbox/webhook-outbox.ts'
import type { OutgoingMessage } from '../../server/modules/webhooks/webhooks-types.ts'
import { answer, take } from './receiver-behaviours.ts'
import { messageOf, startWebhookLab, type WebhookLab } from './webhook-lab.ts'

let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab()
})
afterEach(async () => {
  await lab.superuser.query('grant delete on hub.webhook_outbox to hub_app')
  await lab.superuser.query('delete from hub.webhook_outbox')
})
afterAll(() => lab.stop())

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
  // More than a turn takes.
  const text = 'x'.repeat(15_000)
  const large = () => {
    const message = messageOf()
    return { ...message, data: { ...message.data, text } }
  }
  for (let round = 0; round < 4; round += 1) await lab.tell('globex', Array.from({ length: 50 }, large))
  const rows = await webhook.deliveriesWhen(
    (all) => all.length === 200 && all.every(({ status }) => status === 'delivered'),
  )
  expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 200 }, (_, at) => at + 1))
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
  expect(lab.hub.logLines.filter((line) => line.includes('waiting messages cannot be read'))).toHaveLength(1)
})

/** Keeps a row by itself, as a process of another version may. */
async function leave(messages: string): Promise<string> {
  const outboxId = lab.hub.modules.recordStore.clock.next().recordId
  await lab.superuser.query('insert into hub.webhook_outbox (tenant_id, outbox_id, messages) values ($1, $2, $3)', [
    ...['globex', outboxId, messages],
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
  const lines = lab.hub.logLines.filter((line) => line.includes('could not create deliveries'))
  expect(lines.map((line) => JSON.parse(line).outboxId)).toEqual([bad])
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
})
