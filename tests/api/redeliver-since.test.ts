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
beforeAll(async () => {
  hub = await startDeliveriesHub()
})
afterAll(() => hub.stop())

const day = (number: number) => `2026-07-0${number}T12:00:00.000000Z`
let endpoints = 0

/** An endpoint with deliveries of the first days of July: sequence and day are the same. */
async function endpoint() {
  endpoints += 1
  const webhookId = await addWebhook(hub, 'acme', { url: `http://127.0.0.1:4999/${endpoints}` })
  await keepDeliveries(hub, 'acme', webhookId, [
    { createdAt: day(1), status: 'dead' },
    { createdAt: day(2), status: 'delivered' },
    { createdAt: day(3), status: 'failed' },
    { createdAt: day(4), status: 'dead' },
    { createdAt: day(5), status: 'dead', data: null },
    { createdAt: day(6), status: 'dead', kind: 'webhook.test' },
    { createdAt: day(7), status: 'delivered' },
    { createdAt: day(8), status: 'dead' },
  ])
  const own = `${webhooksPath}/${webhookId}`
  return {
    webhookId,
    own,
    again: (body?: unknown) => hub.call('acme', 'POST', `${own}:redeliver`, { body }),
    pending: async () => {
      const { body } = await hub.call('acme', 'GET', `${own}/deliveries?status=pending`)
      return body.items.map(({ sequence }: { sequence: number }) => sequence).reverse()
    },
  }
}

test.each<[object, number[]]>([
  [{ since: day(1) }, [1, 3, 4, 8]],
  [{ since: '0001-01-01T00:00:00Z', until: '9999-12-31T23:59:59Z' }, [1, 3, 4, 8]],
  [{ since: day(3) }, [3, 4, 8]],
  [{ since: '2026-07-03T12:00:00.000001Z' }, [4, 8]],
  [{ since: '2026-07-03T14:00:00+02:00', until: day(4) }, [3]],
  [{ since: day(1), until: day(8) }, [1, 3, 4]],
  [{ since: day(1), status: 'dead' }, [1, 4, 8]],
  [{ since: day(1), status: 'failed' }, [3]],
  [{ since: day(2), status: 'delivered' }, [2, 7]],
  [{ since: day(9) }, []],
])('%j queues %j', async (body, sequences) => {
  const { again, pending, webhookId } = await endpoint()
  const answer = await again(body)
  expect([answer.status, answer.body]).toEqual([202, { webhook_id: webhookId, queued: sequences.length }])
  expect(await pending()).toEqual(sequences)
})

test('writes down once what was ordered, and nothing where nothing was queued', async () => {
  const { again, webhookId } = await endpoint()
  for (const _ of ['first', 'again']) await again({ since: day(1), until: '2026-07-04T14:00:00+02:00' })
  const orders = await ordersOf(hub, webhookId)
  expect(orders).toEqual([
    expect.objectContaining({
      change: 'webhook_redelivered',
      since: day(1),
      until: day(4),
      statuses: ['failed', 'dead'],
      queued: 2,
    }),
  ])
})

test('all are due at once, in the order of their sequence', async () => {
  const { again, own } = await endpoint()
  await again({ since: day(1) })
  const { items } = (await hub.call('acme', 'GET', `${own}/deliveries?status=pending`)).body
  expect(new Set(items.map((each: { next_attempt_at: string }) => each.next_attempt_at)).size).toBe(1)
})

test('an endpoint without deliveries has none to queue', async () => {
  const webhookId = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/none' })
  const answer = await hub.call('acme', 'POST', `${webhooksPath}/${webhookId}:redeliver`, { body: { since: day(1) } })
  expect([answer.status, answer.body.queued]).toEqual([202, 0])
})

test('nothing is queued while the endpoint is disabled, and the answer says how to enable it', async () => {
  const { again, own } = await endpoint()
  await hub.call('acme', 'PATCH', own, { body: { enabled: false } })
  const answer = await again({ since: day(1) })
  expect([answer.status, slugOf(answer)]).toEqual([409, 'concurrent-modification'])
  expect(answer.body.detail).toContain(`PATCH ${own} with {"enabled": true}`)
})

test.each<[unknown, string[]]>([
  [undefined, ['/since']],
  [{}, ['/since']],
  [{ since: 'yesterday' }, ['/since']],
  [{ since: 'yesterday', until: '2026-02-30T00:00:00Z' }, ['/since', '/until']],
  [{ since: day(2), until: day(2) }, ['/until']],
  [{ since: day(2), until: day(1) }, ['/until']],
  [{ since: day(1), status: 'pending' }, ['/status']],
  [{ since: day(1), status: ['dead'] }, ['/status']],
  [{ since: 1 }, ['/since']],
  [{ since: day(1), kind: 'user.updated' }, ['/kind']],
])('%j is 400', async (body, pointers) => {
  const { again, pending } = await endpoint()
  const answer = await again(body)
  expect([answer.status, pointersOf(answer)]).toEqual([400, pointers])
  expect(await pending()).toEqual([])
})

test('an endpoint that is not there is 404', async () => {
  const answer = await hub.call('acme', 'POST', `${webhooksPath}/whk_nobody:redeliver`, { body: { since: day(1) } })
  expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
})

let right = ''
beforeAll(async () => {
  right = `${(await endpoint()).own}:redeliver`
})
accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: right, body: { since: day(1) } }),
  wrongScopes: ['connector:admin', 'hub:write'],
  otherTenant: 404,
})
