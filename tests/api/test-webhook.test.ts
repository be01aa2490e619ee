import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestHub } from '../support/hub.ts'
import { addWebhook, ordersOf, startDeliveriesHub, webhooksPath } from '../webhooks/stored-deliveries.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'

let hub: TestHub
let id: string
beforeAll(async () => {
  hub = await startDeliveriesHub()
  id = await addWebhook(hub)
})
afterAll(() => hub.stop())

const order = (webhookId = id, body?: unknown) =>
  hub.call('acme', 'POST', `${webhooksPath}/${webhookId}:test`, { body })

test('queues a message that the endpoint did not ask for, and says where to see what came of it', async () => {
  const { status, body, headers } = await order(id, {})
  expect(status).toBe(202)
  expect(body).toEqual({
    delivery_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    webhook_id: id,
    message_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    kind: 'webhook.test',
    sequence: 1,
    status: 'pending',
    occurred_at: body.created_at,
    created_at: expect.stringMatching(/\.\d{6}Z$/),
    attempt_count: 0,
    next_attempt_at: expect.stringMatching(/\.\d{6}Z$/),
  })
  const got = await hub.call('acme', 'GET', String(headers.location))
  expect(got.body).toMatchObject({ ...body, body: { kind: 'webhook.test', data: { message: expect.any(String) } } })
  expect(await ordersOf(hub, id)).toEqual([
    expect.objectContaining({ change: 'webhook_tested', delivery_id: body.delivery_id }),
  ])
})

test('wakes whoever delivers, once it is committed', async () => {
  const woken: string[] = []
  const { worker } = hub.modules.webhooks
  const { wake } = worker
  worker.wake = (tenantId) => void woken.push(tenantId)
  try {
    await order()
    await expect.poll(() => woken).toContain('acme')
  } finally {
    worker.wake = wake
  }
})

test('those that are ordered at once get sequences of their own, without gaps', async () => {
  const own = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/busy' })
  const answers = await Promise.all(Array.from({ length: 8 }, () => order(own)))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202))
  expect(answers.map(({ body }) => body.sequence).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
})

test('an endpoint that is disabled can be tried before it is enabled', async () => {
  const own = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/disabled' })
  await hub.call('acme', 'PATCH', `${webhooksPath}/${own}`, { body: { enabled: false } })
  expect((await order(own)).body).toMatchObject({ status: 'pending', sequence: 1 })
})

test('an endpoint that is not there, or was removed, is 404', async () => {
  const removed = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/removed' })
  await hub.call('acme', 'DELETE', `${webhooksPath}/${removed}`)
  for (const webhookId of ['whk_nobody', removed]) {
    const answer = await order(webhookId)
    expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
  }
})

test('takes nothing', async () => {
  const answer = await order(id, { kind: 'user.updated' })
  expect([answer.status, pointersOf(answer)]).toEqual([400, ['/kind']])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: `${webhooksPath}/${id}:test` }),
  wrongScopes: ['connector:admin', 'hub:write'],
  otherTenant: 404,
})
