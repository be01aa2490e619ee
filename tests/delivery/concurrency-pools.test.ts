import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { connectorsMax } from '../../contract/limits.ts'
import { type ConcurrencyPool, ConcurrencyPools } from '../../server/delivery/concurrency-pools.ts'

const small = 1024
const quickMsMax = 2_000
const limits = { own: 8, common: 512, tenantBytesMax: 64 * 1024 * 1024, quickMsMax }
const create = () => new ConcurrencyPools(limits)

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Starts a call that lasts until `end`. */
function begin(pools: ConcurrencyPools, pool: ConcurrencyPool, tenantId: string, bytes = small) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = new AbortController()
  const late = vi.fn()
  const ended = pools.run({ pool, tenantId, bytes, stop, late }, () => promise)
  return {
    stop,
    late,
    end: () => {
      resolve()
      return ended
    },
  }
}

/** Takes all that a tenant gets. */
function takeAll(pools: ConcurrencyPools, pool: ConcurrencyPool, tenant: string, bytes = small): number {
  let held = 0
  for (; pools.room(pool, tenant, bytes) > 0; held += 1) begin(pools, pool, tenant, bytes)
  return held
}

describe.each<ConcurrencyPool>(['quick', 'slow'])('of the pool %s', (pool) => {
  test('one tenant has enough for all its connectors', () => {
    expect(takeAll(create(), pool, 'only')).toBeGreaterThanOrEqual(connectorsMax)
  })

  test.each([2, 10, 300])('%i tenants that take all they can leave each other tenant its own', (count) => {
    const pools = create()
    for (let at = 0; at < count; at += 1) takeAll(pools, pool, `greedy-${at}`)
    expect(takeAll(pools, pool, 'next')).toBeGreaterThanOrEqual(8)
  })

  test('slots that a tenant frees are shared again', async () => {
    const pools = create()
    const calls = Array.from({ length: 100 }, () => begin(pools, pool, 'first'))
    const before = takeAll(pools, pool, 'second')
    for (const call of calls) await call.end()
    expect(pools.room(pool, 'second', small)).toBeGreaterThan(0)
    expect(takeAll(pools, pool, 'third')).toBeGreaterThan(before / 2)
  })

  test('large messages get few slots, and always one', () => {
    const pools = create()
    expect(takeAll(pools, pool, 'large', 16 * 1024 * 1024)).toBe(4)
    expect(takeAll(pools, pool, 'huge', 1024 ** 3)).toBe(1)
  })
})

const rooms = (pools: ConcurrencyPools) => [pools.room('quick', 'a', small), pools.room('slow', 'a', small)]

test('a late call moves to the slow pool, and frees its slot there', async () => {
  const pools = create()
  const [quick, slow] = rooms(pools) as [number, number]
  const call = begin(pools, 'quick', 'a')
  expect(rooms(pools)).toEqual([quick - 1, slow])
  vi.advanceTimersByTime(quickMsMax)
  expect(call.late).toHaveBeenCalledOnce()
  expect(rooms(pools)).toEqual([quick, slow - 1])
  await call.end()
  expect([rooms(pools), call.stop.signal.aborted]).toEqual([[quick, slow], false])
})

test('a late call of the slow pool stays there', async () => {
  const pools = create()
  const before = rooms(pools)
  const call = begin(pools, 'slow', 'a')
  vi.advanceTimersByTime(quickMsMax)
  await call.end()
  expect([rooms(pools), call.stop.signal.aborted]).toEqual([before, false])
})

test('without room in the slow pool a late call is aborted', async () => {
  const pools = create()
  takeAll(pools, 'slow', 'a')
  const call = begin(pools, 'quick', 'a')
  vi.advanceTimersByTime(quickMsMax)
  expect(call.stop.signal.aborted).toBe(true)
  await call.end()
  expect(pools.room('quick', 'a', small)).toBe(create().room('quick', 'a', small))
})
