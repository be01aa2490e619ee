import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestHub } from '../support/hub.ts'
import {
  addWebhook,
  keepDeliveries,
  ordersOf,
  startDeliveriesHub,
  webhooksPath,
} from '../webhooks/stored-deliveries.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'

let hub: TestHub
let webhookId: string
let dead: string
let waiting: string
let erased: string
beforeAll(async () => {
  hub = await startDeliveriesHub()
  webhookId = await addWebhook(hub)
  const rows = [{ status: 'dead' }, { status: 'pending' }, { status: 'dead', data: null }] as const
  ;[dead, waiting, erased] = (await keepDeliveries(hub, 'acme', webhookId, [...rows])) as [string, string, string]
})
afterAll(() => hub.stop())

const pathOf = (id: string) => `${webhooksPath}/deliveries/${id}:redeliver`
const again = (id: string, body?: unknown) => hub.call('acme', 'POST', pathOf(id), { body })

test('a delivery begins again, whichever endpoint it is of, with the answer of the longer address', async () => {
  const { status, body, headers } = await again(dead)
  expect(status).toBe(202)
  expect(body).toMatchObject({ delivery_id: dead, webhook_id: webhookId, status: 'pending' })
  expect(headers.location).toBe(`${webhooksPath}/${webhookId}/deliveries/${dead}`)
  expect(await ordersOf(hub, webhookId)).toEqual([
    expect.objectContaining({ change: 'webhook_redelivered', delivery_id: dead, status: 'dead', queued: 1 }),
  ])
})

test('one that waits already stays as it is, and nothing is written down', async () => {
  const orders = await ordersOf(hub, webhookId)
  const { status, body } = await again(waiting, {})
  expect([status, body.delivery_id]).toEqual([202, waiting])
  expect(await ordersOf(hub, webhookId)).toEqual(orders)
})

test('what was erased, and what is of an endpoint that is disabled, is 409', async () => {
  const gone = await again(erased)
  expect([gone.status, slugOf(gone)]).toEqual([409, 'concurrent-modification'])
  const own = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/disabled' })
  const [id] = await keepDeliveries(hub, 'acme', own, [{ status: 'dead' }])
  await hub.call('acme', 'PATCH', `${webhooksPath}/${own}`, { body: { enabled: false } })
  const disabled = await again(id!)
  expect([disabled.status, slugOf(disabled)]).toEqual([409, 'concurrent-modification'])
  expect(disabled.body.detail).toContain(own)
})

test('an id that is none and a member are 400, one of nobody and one of a removed endpoint 404', async () => {
  const wrong = [await again('last'), await again(dead, { at: 'once' })]
  expect(wrong.map((answer) => [answer.status, pointersOf(answer)])).toEqual([
    [400, ['/path/delivery_id']],
    [400, ['/at']],
  ])
  const own = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/removed' })
  const [id] = await keepDeliveries(hub, 'acme', own, [{ status: 'dead' }])
  await hub.call('acme', 'DELETE', `${webhooksPath}/${own}`)
  for (const answer of [await again('019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'), await again(id!)]) {
    expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
    expect(answer.body.detail).toContain('no delivery with this id')
  }
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: pathOf(dead) }),
  wrongScopes: ['connector:admin', 'hub:write'],
  otherTenant: 404,
})
