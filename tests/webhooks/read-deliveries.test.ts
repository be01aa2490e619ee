import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FairShare } from '../../server/delivery/concurrency-pools.ts'
import { type DueDelivery, dueDeliveries } from '../../server/modules/webhooks/worker/delivery-queue-store.ts'
import { DeliveryQueue } from '../../server/modules/webhooks/worker/endpoint-dispatcher.ts'
import type { TestHub } from '../support/hub.ts'
import { addWebhook, keepDeliveries, refused, startDeliveriesHub } from './stored-deliveries.ts'

/** How much of what is due a process reads. */

let made = 0
function delivery(more: Partial<DueDelivery> = {}): DueDelivery {
  made += 1
  return {
    ...{ delivery_id: `d${made}`, webhook_id: 'w', sequence: made, message_id: 'm', kind: 'user.updated' },
    ...{ occurred_at: '2026-11-22T00:00:00.000000Z', data: '{}', tries: 0, attempt_count: 0, attempts: [], bytes: 512 },
    ...more,
  }
}
const many = (count: number, more?: Partial<DueDelivery>) => Array.from({ length: count }, () => delivery(more))

describe('the queue of an endpoint', () => {
  const wanted = (queue: DeliveryQueue) => queue.wanted(Number.POSITIVE_INFINITY)

  test('grows while half of it lasts for less than a quarter of a second, and shrinks to what a second takes', () => {
    const queue = new DeliveryQueue()
    let nowMs = 0
    const sizes = [wanted(queue)]
    for (let turn = 0; turn < 16; turn += 1) {
      queue.put(many(wanted(queue)), nowMs)
      while (wanted(queue) === 0) queue.take()
      nowMs += 100
      sizes.push(queue.length + wanted(queue))
    }
    expect([sizes[0], sizes.at(-1)]).toEqual([64, 2_000])
    queue.put(many(wanted(queue)), nowMs)
    for (let taken = 0; taken < 100; taken += 1) queue.take()
    expect(queue.takeStale(nowMs + 1_000).length).toBeLessThan(1_000)
    queue.takeStale(nowMs + 1_001)
    expect([queue.length, wanted(queue)]).toEqual([0, 100])
  })

  test('is not larger for messages that come one by one', () => {
    const queue = new DeliveryQueue()
    for (let turn = 0; turn < 100; turn += 1) {
      queue.put([delivery()], turn)
      queue.take()
    }
    expect(wanted(queue)).toBe(64)
  })

  test('gives out nothing that was read more than a second ago', () => {
    const queue = new DeliveryQueue()
    const [old, young] = [many(20), many(20)]
    queue.put(old, 0)
    queue.put(young, 500)
    expect(queue.takeStale(1_000)).toEqual([])
    expect(queue.takeStale(1_001)).toEqual(old)
    expect([queue.take(), queue.length]).toEqual([young[0], 19])
  })

  test('has tests first, and fewer where they are large', () => {
    const queue = new DeliveryQueue()
    queue.put([...many(2, { bytes: 1024 * 1024 }), delivery({ kind: 'webhook.test', bytes: 1024 * 1024 })], 0)
    expect(queue.take()?.kind).toBe('webhook.test')
    expect(wanted(queue)).toBe(2)
  })
})

describe('the budget of a process', () => {
  const budget = () => new FairShare({ own: 100, common: 1_000 })

  test('leaves something to every tenant, whatever the others hold', () => {
    const bytes = budget()
    expect(bytes.room('a')).toBe(300)
    for (let tenant = 0; tenant < 50; tenant += 1) {
      const room = bytes.room(`t${tenant}`)
      expect(room).toBeGreaterThanOrEqual(100)
      bytes.hold(`t${tenant}`, room)
      expect(bytes.room(`t${tenant}`)).toBeLessThan(room / 2)
    }
    expect(bytes.room('a')).toBe(100)
  })

  test('comes back', () => {
    const bytes = budget()
    bytes.hold('a', 700)
    expect(bytes.room('a')).toBe(0)
    bytes.hold('a', -700)
    expect([bytes.room('a'), bytes.room('b')]).toEqual([300, 300])
  })
})

describe('what is due', () => {
  let hub: TestHub
  let large: string
  let small: string
  beforeAll(async () => {
    hub = await startDeliveriesHub()
    large = await addWebhook(hub)
    small = await addWebhook(hub)
    const data = { text: 'x'.repeat(10_000) }
    await keepDeliveries(hub, 'acme', large, Array(20).fill({ status: 'pending', data }))
    await keepDeliveries(hub, 'acme', small, Array(20).fill({ status: 'pending' }))
  })
  afterAll(() => hub.stop())
  const read = (...wanted: Parameters<typeof dueDeliveries>[1]) =>
    hub.test.database.withTenant('acme', (tx) => dueDeliveries(tx, wanted, []), { inIndexOrder: true })

  test('is read up to a number and so many bytes of each endpoint, the oldest first', async () => {
    const due = await read(
      { webhookId: large, count: 100, bytes: 100_000 },
      { webhookId: small, count: 7, bytes: 100_000 },
    )
    const of = (id: string) => due.filter(({ webhook_id }) => webhook_id === id).map(({ sequence }) => sequence)
    expect([of(large), of(small)]).toEqual([
      [1, 2, 3, 4, 5],
      [1, 2, 3, 4, 5, 6, 7],
    ])
    expect(due[0]!.bytes).toBe(512 + 2 * 10_011)
  })

  test('is one at least', async () => {
    expect(await read({ webhookId: large, count: 100, bytes: 0 })).toHaveLength(1)
  })

  test('counts what is kept of attempts, too', async () => {
    const failing = await addWebhook(hub)
    const attempts = Array(20).fill({ ...refused, response: { status: 500, headers: {}, body: 'y'.repeat(1_024) } })
    await keepDeliveries(hub, 'acme', failing, Array(20).fill({ status: 'failed', attempts }))
    const due = await read({ webhookId: failing, count: 20, bytes: 200_000 })
    expect(due.length).toBeLessThan(4)
    expect(due[0]!.bytes).toBeGreaterThan(JSON.stringify(attempts).length)
  })
})
