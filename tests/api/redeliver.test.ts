import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestHub } from '../support/hub.ts'
import {
  addWebhook,
  keepDeliveries,
  ordersOf,
  refused,
  startDeliveriesHub,
  taken,
  webhooksPath,
} from '../webhooks/stored-deliveries.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'

let hub: TestHub
let webhookId: string
let path: string
const ids: Record<string, string> = {}
beforeAll(async () => {
  hub = await startDeliveriesHub()
  webhookId = await addWebhook(hub)
  path = `${webhooksPath}/${webhookId}/deliveries`
  const made = await keepDeliveries(hub, 'acme', webhookId, [
    { status: 'delivered' },
    { status: 'failed' },
    { status: 'dead' },
    { status: 'pending' },
    { status: 'dead', data: null },
  ])
  for (const [place, name] of ['delivered', 'failed', 'dead', 'pending', 'erased'].entries()) ids[name] = made[place]!
})
afterAll(() => hub.stop())

const again = (name: string, body?: unknown) =>
  hub.call('acme', 'POST', `${path}/${ids[name] ?? name}:redeliver`, { body })
const get = async (name: string) => (await hub.call('acme', 'GET', `${path}/${ids[name]}`)).body

test.each(['delivered', 'failed', 'dead'])('one that is %s begins again, and keeps its attempts', async (name) => {
  const beganMs = Date.now()
  const before = await get(name)
  const orders = (await ordersOf(hub, webhookId)).length
  const { status, body, headers } = await again(name)
  expect(status).toBe(202)
  expect(headers.location).toBe(`${path}/${ids[name]}`)
  const { next_attempt_at: _, delivered_at: __, status: ___, ...same } = before
  const after = await get(name)
  expect(after).toEqual({ ...same, status: 'pending', next_attempt_at: expect.any(String) })
  expect(after.attempts).toEqual(name === 'delivered' ? [refused, taken] : [refused])
  expect(Date.parse(after.next_attempt_at)).toBeGreaterThanOrEqual(beganMs)
  expect(Date.parse(after.next_attempt_at)).toBeLessThanOrEqual(Date.now())
  const { body: _sent, attempts: _attempts, ...listed } = after
  expect(body).toEqual(listed)
  const { tries } = (
    await hub.test.database.withTenant('acme', ({ client }) =>
      client.query('select tries from hub.webhook_deliveries where tenant_id = $1 and delivery_id = $2', [
        'acme',
        ids[name],
      ]),
    )
  ).rows[0]
  expect(tries).toBe(0)
  expect((await ordersOf(hub, webhookId)).slice(orders)).toEqual([
    expect.objectContaining({ change: 'webhook_redelivered', delivery_id: ids[name], status: name, queued: 1 }),
  ])
})

test('one that waits already stays as it is, and nothing is written down', async () => {
  const before = await get('pending')
  const orders = await ordersOf(hub, webhookId)
  expect((await again('pending', {})).status).toBe(202)
  expect(await get('pending')).toEqual(before)
  expect(await ordersOf(hub, webhookId)).toEqual(orders)
})

test('what was erased cannot be delivered again, and the answer says so', async () => {
  const answer = await again('erased')
  expect([answer.status, slugOf(answer)]).toEqual([409, 'concurrent-modification'])
  expect(answer.body.detail).toContain('erased')
})

test('nothing can be while the endpoint is disabled, and the answer says how to enable it', async () => {
  const own = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/disabled' })
  const [id] = await keepDeliveries(hub, 'acme', own, [{ status: 'dead' }])
  const call = () => hub.call('acme', 'POST', `${webhooksPath}/${own}/deliveries/${id}:redeliver`)
  const enable = (enabled: boolean) => hub.call('acme', 'PATCH', `${webhooksPath}/${own}`, { body: { enabled } })
  await enable(false)
  const answer = await call()
  expect([answer.status, slugOf(answer)]).toEqual([409, 'concurrent-modification'])
  expect(answer.body.detail).toContain(`PATCH ${webhooksPath}/${own} with {"enabled": true}`)
  await enable(true)
  expect((await call()).status).toBe(202)
})

test('an id that is none and a member are 400, one of nobody and one of another endpoint 404', async () => {
  const wrong = [await again('last'), await again('dead', { at: 'once' })]
  expect(wrong.map((answer) => [answer.status, pointersOf(answer)])).toEqual([
    [400, ['/path/delivery_id']],
    [400, ['/at']],
  ])
  const other = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/other' })
  for (const answer of [
    await again('019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'),
    await hub.call('acme', 'POST', `${webhooksPath}/${other}/deliveries/${ids.dead}:redeliver`),
    await hub.call('acme', 'POST', `${webhooksPath}/whk_nobody/deliveries/${ids.dead}:redeliver`),
  ]) {
    expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
  }
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: `${path}/${ids.dead}:redeliver` }),
  wrongScopes: ['connector:admin', 'hub:write'],
  otherTenant: 404,
})
