import { expect, test } from 'vitest'
import { webhookAttemptsKept } from '../../contract/limits.ts'
import type { DeliveryAttempt } from '../../server/modules/webhooks/webhooks-types.ts'
import { decideOutcome, pauseAfter } from '../../server/modules/webhooks/worker/delivery-outcome.ts'
import type { DueDelivery } from '../../server/modules/webhooks/worker/delivery-queue-store.ts'

const middle = () => 0.5
const kind = 'user.updated'

test('the pauses, in their middle and at both ends', () => {
  const pauses = (random: number) =>
    Array.from({ length: 8 }, (_, at) => pauseAfter({ kind, tries: at + 1 }, 0, () => random))
  expect(pauses(0.5)).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 36_000, undefined])
  expect(pauses(0)[0]).toBeCloseTo(4)
  expect(pauses(1)[6]).toBeCloseTo(43_200)
})

test('a receiver gets the time that it asks for, and never less than the pause', () => {
  expect(pauseAfter({ kind, tries: 1 }, 60, middle)).toBe(60)
  expect(pauseAfter({ kind, tries: 2 }, 60, middle)).toBe(300)
  expect(pauseAfter({ kind, tries: 8 }, 60, middle)).toBeUndefined()
})

test('a test has one attempt', () => {
  expect(pauseAfter({ kind: 'webhook.test', tries: 1 })).toBeUndefined()
})

const failed: DeliveryAttempt = {
  at: '2026-01-02T03:04:05.678901Z',
  duration_ms: 3,
  url: 'https://hooks.example/',
  request_headers: {},
  error: { code: 'http-5xx', detail: 'x' },
}

function delivery(more: Partial<DueDelivery> = {}): DueDelivery {
  return {
    ...{ delivery_id: 'd', webhook_id: 'w', sequence: 1, message_id: 'm', kind, occurred_at: failed.at, data: '{}' },
    ...{ tries: 0, attempt_count: 0, attempts: [], bytes: 512 },
    ...more,
  }
}

const judged = (of: DueDelivery, result: Parameters<typeof decideOutcome>[1]) =>
  decideOutcome(of, result, failed.url, middle)

test('what becomes of a delivery', () => {
  const { error, ...taken } = failed
  expect(judged(delivery(), taken)).toMatchObject({ status: 'delivered', attempts: [taken], counts: true })
  expect(judged(delivery(), failed)).toMatchObject({ status: 'failed', pauseSeconds: 5, isGone: false })
  expect(judged(delivery({ tries: 7 }), failed)).toMatchObject({ status: 'dead' })
  const gone: DeliveryAttempt = { ...taken, error: { code: 'gone', detail: 'x' } }
  expect(judged(delivery(), gone)).toMatchObject({ status: 'dead', isGone: true })
  expect(judged(delivery(), 'key-destroyed')).toMatchObject({
    ...{ status: 'dead', counts: false },
    attempts: [{ url: failed.url, request_headers: {}, error: { code: 'key-destroyed' } }],
  })
  expect(judged(delivery({ data: null }), 'erased')).toEqual({
    ...{ delivery: delivery({ data: null }), status: 'dead', counts: false, isGone: false },
  })
})

test('of many attempts the last are kept, the newest at the end', () => {
  const attempts = Array.from({ length: webhookAttemptsKept }, (_, at) => ({ ...failed, duration_ms: at }))
  const newest = { ...failed, duration_ms: 99 }
  const kept = judged(delivery({ attempts, attempt_count: 20 }), newest).attempts
  expect(kept).toEqual([...attempts.slice(1), newest])
})
