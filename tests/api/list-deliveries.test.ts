import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestHub, TestTenant } from '../support/hub.ts'
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
/** By age. */
let ids: string[]
beforeAll(async () => {
  hub = await startDeliveriesHub()
  const webhookId = await addWebhook(hub)
  path = `${webhooksPath}/${webhookId}/deliveries`
  const day = (number: number) => `2026-07-0${number}T12:00:00.000000Z`
  ids = await keepDeliveries(hub, 'acme', webhookId, [
    { createdAt: day(1), status: 'delivered' },
    { createdAt: day(2), status: 'dead', kind: 'user.provisioned' },
    { createdAt: day(3), status: 'delivered', kind: 'user.provisioned' },
    { createdAt: day(4), status: 'failed' },
    { createdAt: day(5), status: 'pending' },
    { createdAt: day(6), status: 'dead' },
  ])
  await keepDeliveries(hub, 'acme', await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/other' }), [{}, {}])
})
afterAll(() => hub.stop())

const list = (query = '', tenant: TestTenant = 'acme') => hub.call(tenant, 'GET', `${path}${query}`)
const found = async (query: string) => {
  const { status, body } = await list(query)
  return status === 200 ? body.items.map((each: { delivery_id: string }) => ids.indexOf(each.delivery_id) + 1) : body
}

test('the newest first, each with its last attempt and without its data', async () => {
  const { status, body } = await list()
  expect(status).toBe(200)
  expect(body.next_cursor).toBeNull()
  expect(body.items.map((each: { sequence: number }) => each.sequence)).toEqual([6, 5, 4, 3, 2, 1])
  expect(body.items[5]).toEqual({
    delivery_id: ids[0],
    webhook_id: path.split('/')[4],
    message_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    kind: 'user.updated',
    sequence: 1,
    status: 'delivered',
    occurred_at: '2026-07-01T12:00:00.000000Z',
    created_at: '2026-07-01T12:00:00.000000Z',
    attempt_count: 2,
    delivered_at: taken.at,
    last_attempt: taken,
  })
  expect(body.items[2]).toMatchObject({ next_attempt_at: '2026-07-01T10:00:00.000000Z', last_attempt: refused })
  expect(body.items[1]).not.toHaveProperty('last_attempt')
})

test.each([
  ['?status=dead', [6, 2]],
  ['?status=failed', [4]],
  ['?status=pending', [5]],
  ['?status=delivered', [3, 1]],
  ['?kind=user.provisioned', [3, 2]],
  ['?kind=user.provisioned&status=dead', [2]],
  ['?kind=user.deactivated', []],
  ['?created_at__gte=2026-07-05T12:00:00Z', [6, 5]],
  ['?created_at__gte=2026-07-05T12:00:00.000001Z', [6]],
  ['?created_at__lt=2026-07-02T12:00:00Z', [1]],
  ['?created_at__lt=2026-07-02T13:00:00.000001%2B01:00', [2, 1]],
  ['?created_at__gte=2026-07-02T00:00:00Z&created_at__lt=2026-07-04T00:00:00Z', [3, 2]],
  ['?created_at__gte=2026-07-04T00:00:00Z&created_at__lt=2026-07-02T00:00:00Z', []],
  ['?created_at__gte=0001-01-01T00:00:00Z&created_at__lt=9999-12-31T23:59:59Z&status=dead', [6, 2]],
  ['?created_at__gte=2027-01-01T00:00:00Z', []],
])('%s finds %j', async (query, expected) => {
  expect(await found(query)).toEqual(expected)
})

test.each(['', '&status=dead', '&status=delivered', '&kind=user.updated', '&created_at__gte=2026-07-02T00:00:00Z'])(
  'pages of one meet all once: %j',
  async (filter) => {
    const whole = await found(`?limit=1000${filter}`)
    const met: number[] = []
    for (let query = `?limit=1${filter}`; ; ) {
      const { body } = await list(query)
      met.push(...body.items.map((each: { delivery_id: string }) => ids.indexOf(each.delivery_id) + 1))
      if (body.next_cursor === null) break
      query = `?limit=1${filter}&cursor=${body.next_cursor}`
    }
    expect(met).toEqual(whole)
  },
)

test('an endpoint without deliveries has an empty list', async () => {
  const none = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/none' })
  for (const query of ['', '?status=dead', '?kind=user.updated', '?created_at__gte=2026-01-01T00:00:00Z']) {
    const { status, body } = await hub.call('acme', 'GET', `${webhooksPath}/${none}/deliveries${query}`)
    expect([status, body]).toEqual([200, { items: [], next_cursor: null }])
  }
})

test('a cursor is good for its endpoint and filter alone', async () => {
  const { next_cursor } = (await list('?limit=1')).body
  const other = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/third' })
  const wrong = [
    await list(`?cursor=${next_cursor}A`),
    await list(`?cursor=${next_cursor}&status=dead`),
    await list(`?cursor=${next_cursor}&created_at__lt=2026-07-02T12:00:00Z`),
    await hub.call('acme', 'GET', `${webhooksPath}/${other}/deliveries?cursor=${next_cursor}`),
  ]
  expect(wrong.map((answer) => [answer.status, slugOf(answer)])).toEqual(wrong.map(() => [400, 'invalid-cursor']))
  expect((await list(`?limit=3&cursor=${next_cursor}`)).body.items).toHaveLength(3)
})

test.each([
  ['limit=0', ['/query/limit']],
  ['limit=1001', ['/query/limit']],
  ['cursor=', ['/query/cursor']],
  ['status=gone', ['/query/status']],
  ['kind=', ['/query/kind']],
  ['kind=nope', ['/query/kind']],
  ['kind=user.*&created_at__lt=late', ['/query/kind', '/query/created_at__lt']],
  ['kind=governance.auth.logn', ['/query/kind']],
  [
    'created_at__gte=yesterday&created_at__lt=2026-13-01T00:00:00Z',
    ['/query/created_at__gte', '/query/created_at__lt'],
  ],
  ['since=2026-01-01T00:00:00Z', ['/query/since']],
  ['status=dead&status=failed', ['/query/status']],
])('%s is 400', async (query, pointers) => {
  const answer = await list(`?${query}`)
  expect([answer.status, pointersOf(answer)]).toEqual([400, pointers])
})

test('an endpoint that is not there, or was removed, is 404', async () => {
  const removed = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/removed' })
  await hub.call('acme', 'DELETE', `${webhooksPath}/${removed}`)
  for (const id of ['whk_nobody', removed]) {
    const answer = await hub.call('acme', 'GET', `${webhooksPath}/${id}/deliveries`)
    expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
  }
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'GET', path }),
  wrongScopes: ['connector:admin', 'governance:read'],
  otherTenant: 404,
})
