import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestHub } from '../support/hub.ts'
import {
  addWebhook,
  keepDeliveries,
  refused,
  startDeliveriesHub,
  taken,
  webhooksPath,
} from '../webhooks/stored-deliveries.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'

let hub: TestHub
let path: string
let delivered: string
let erased: string
beforeAll(async () => {
  hub = await startDeliveriesHub()
  const webhookId = await addWebhook(hub)
  path = `${webhooksPath}/${webhookId}/deliveries`
  const rows = [{ data: { user_id: 'usr_1', archetype_ids: [] } }, { status: 'dead' as const, data: null }]
  ;[delivered, erased] = (await keepDeliveries(hub, 'acme', webhookId, rows)) as [string, string]
})
afterAll(() => hub.stop())

const get = (id: string) => hub.call('acme', 'GET', `${path}/${id}`)

test('shows the body that is sent and every attempt, besides what the list shows', async () => {
  const { status, body } = await get(delivered)
  expect(status).toBe(200)
  const { body: sent, attempts, ...rest } = body
  expect(sent).toEqual({
    id: rest.message_id,
    kind: 'user.updated',
    tenant: 'acme',
    occurred_at: rest.occurred_at,
    sequence: 1,
    data: { user_id: 'usr_1', archetype_ids: [] },
  })
  expect(Object.keys(sent)).toEqual(['id', 'kind', 'tenant', 'occurred_at', 'sequence', 'data'])
  expect(attempts).toEqual([refused, taken])
  expect((await hub.call('acme', 'GET', path)).body.items[1]).toEqual(rest)
})

test('has no data any more once what it told of was erased', async () => {
  const { status, body } = await get(erased)
  expect([status, body.status]).toEqual([200, 'dead'])
  expect(body.body).not.toHaveProperty('data')
})

test('an id that is none is 400, one of nobody and one of another endpoint 404', async () => {
  const wrong = await get('last')
  expect([wrong.status, pointersOf(wrong)]).toEqual([400, ['/path/delivery_id']])
  const other = `${webhooksPath}/${await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/other' })}/deliveries`
  for (const answer of [
    await get('019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'),
    await hub.call('acme', 'GET', `${other}/${delivered}`),
    await hub.call('acme', 'GET', `${webhooksPath}/whk_nobody/deliveries/${delivered}`),
  ]) {
    expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
  }
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'GET', path: `${path}/${delivered}` }),
  wrongScopes: ['connector:admin', 'governance:read'],
  otherTenant: 404,
})
