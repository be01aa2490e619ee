import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { patience } from '../support/machine-speed.ts'
import { type DeliveringProcess, startDeliveringProcess } from './delivering-process.ts'
import { answerAfter, hang, take } from './receiver-behaviours.ts'
import { startWebhookLab, type WebhookLab } from './webhook-lab.ts'

let lab: WebhookLab
const processes: DeliveringProcess[] = []
beforeAll(async () => {
  lab = await startWebhookLab({ start: false })
})
afterEach(async () => {
  await Promise.all(processes.splice(0).map((each) => each.stop()))
})
afterAll(() => lab.stop())

/** Begins a process that takes no answer for late on a busy machine: what is late is sent again. */
async function begin(): Promise<DeliveringProcess> {
  const begun = await startDeliveringProcess(
    lab.hub,
    {},
    { quickMsMax: patience.timeout },
    { timeoutMs: patience.timeout },
  )
  processes.push(begun)
  return begun
}

async function leaseOf(webhookId: string): Promise<{ leased_by: string | null; ahead: boolean | null }> {
  const { rows } = await lab.superuser.query(
    'select leased_by, leased_until > now() as ahead from hub.webhook_progress where webhook_id = $1',
    [webhookId],
  )
  return rows[0]
}

test('of two processes one sends to an endpoint, each message once', async () => {
  const webhooks = await Promise.all([lab.connect(), lab.connect(), lab.connect()])
  for (const { receiving } of webhooks) receiving.behaviour = answerAfter(2)
  await Promise.all([begin(), begin()])
  for (let round = 0; round < 5; round += 1) {
    await lab.tell('acme', 20)
    for (const each of processes) each.wake('acme')
  }
  for (const webhook of webhooks) {
    await webhook.deliveriesWhen((rows) => rows.length === 100 && rows.every(({ status }) => status === 'delivered'))
    expect([webhook.receiving.received.length, webhook.receiving.duplicates()]).toEqual([100, 0])
  }
})

test('a process that stops breaks off what is on its way and gives back what it has: another goes on at once', async () => {
  const webhook = await lab.connect({ behaviour: hang })
  const first = await begin()
  await lab.tell('acme', 1, [webhook.webhookId])
  first.wake('acme')
  await webhook.receiving.count(1)
  expect(await leaseOf(webhook.webhookId)).toMatchObject({ leased_by: expect.any(String), ahead: true })
  webhook.receiving.behaviour = take
  // The receiver never answers, so stopping ends only by breaking the request off.
  await first.stop()
  expect(await leaseOf(webhook.webhookId)).toEqual({ leased_by: null, ahead: null })
  expect(await webhook.deliveries()).toMatchObject([{ status: 'pending', attempt_count: 0 }])
  await begin()
  await webhook.deliveriesWhen(([row]) => row?.status === 'delivered')
  expect(webhook.receiving.received.map(({ sequence }) => sequence)).toEqual([1, 1])
})

test('a process gives back what it has of a tenant that is suspended, and goes on once it is not', async () => {
  const webhook = await lab.connect({ tenant: 'globex', behaviour: hang })
  const delivering = await begin()
  await lab.tell('globex', 1, [webhook.webhookId])
  delivering.wake('globex')
  await webhook.receiving.count(1)
  const suspend = (at: string) =>
    lab.superuser.query(`update hub.tenants set suspended_at = ${at} where slug = 'globex'`)
  await suspend('now()')
  const lease = () => {
    delivering.wake('globex')
    return leaseOf(webhook.webhookId)
  }
  // A lease that only ends keeps its holder.
  await expect.poll(lease).toEqual({ leased_by: null, ahead: null })
  expect(await webhook.deliveries()).toMatchObject([{ status: 'pending', attempt_count: 0 }])
  webhook.receiving.behaviour = take
  await suspend('null')
  await expect.poll(lease).toMatchObject({ leased_by: expect.any(String) })
  await webhook.deliveriesWhen(([row]) => row?.status === 'delivered')
})

test('what a process that died was sending is sent again, once its lease has ended', async () => {
  const webhook = await lab.connect({ behaviour: hang })
  const first = await begin()
  await lab.tell('acme', 1, [webhook.webhookId])
  first.wake('acme')
  await webhook.receiving.count(1)
  webhook.receiving.behaviour = take
  first.crash()
  const second = await begin()
  second.wake('acme')
  expect(await leaseOf(webhook.webhookId)).toMatchObject({ ahead: true })
  await lab.superuser.query('update hub.webhook_progress set leased_until = now() where webhook_id = $1', [
    webhook.webhookId,
  ])
  second.wake('acme')
  await webhook.deliveriesWhen(([row]) => row?.status === 'delivered')
  expect(webhook.receiving.received).toHaveLength(2)
})

test('a process that has lost its lease sends nothing more, and another does', async () => {
  const webhook = await lab.connect({ behaviour: answerAfter(20) })
  const first = await begin()
  await lab.tell('acme', 5, [webhook.webhookId])
  first.wake('acme')
  await webhook.receiving.count(5)
  await lab.superuser.query(
    `update hub.webhook_progress set leased_by = 'another', leased_until = now() + interval '1 second'
     where webhook_id = $1`,
    [webhook.webhookId],
  )
  await lab.tell('acme', 5, [webhook.webhookId])
  first.wake('acme')
  await webhook.deliveriesWhen((rows) => rows.length === 10 && rows.every(({ status }) => status === 'delivered'))
  expect(webhook.receiving.faults).toEqual([])
})
