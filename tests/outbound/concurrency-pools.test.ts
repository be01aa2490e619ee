import { describe, expect, test } from 'vitest'
import { connectorsMax } from '../../contract/limits.ts'
import {
  type ConcurrencyPool,
  type ConcurrencyPools,
  createConcurrencyPools,
} from '../../server/outbound/concurrency-pools.ts'

const small = 1024
const sizes = { ownPlaces: 8, sharedPlaces: 512, tenantBytesMax: 64 * 1024 * 1024 }
const create = () => createConcurrencyPools(sizes)

/** Takes all that a tenant gets. */
function takeAll(lanes: ConcurrencyPools, lane: ConcurrencyPool, tenant: string, bytes = small): number {
  let held = 0
  for (; lanes.room(lane, tenant, bytes) > 0; held += 1) lanes.take(lane, tenant, bytes)
  return held
}

describe.each<ConcurrencyPool>(['quick', 'slow'])('of the lane %s', (lane) => {
  test('one tenant has enough for all its connectors', () => {
    expect(takeAll(create(), lane, 'only')).toBeGreaterThanOrEqual(connectorsMax)
  })

  test.each([2, 10, 300])('%i tenants that take all they can leave each other tenant its own', (count) => {
    const lanes = create()
    for (let at = 0; at < count; at += 1) takeAll(lanes, lane, `greedy-${at}`)
    expect(takeAll(lanes, lane, 'next')).toBeGreaterThanOrEqual(8)
  })

  test('what a tenant gives back is shared out anew', () => {
    const lanes = create()
    const places = Array.from({ length: 100 }, () => lanes.take(lane, 'first', small))
    const before = takeAll(lanes, lane, 'second')
    for (const place of places) place.free()
    expect(lanes.room(lane, 'second', small)).toBeGreaterThan(0)
    expect(takeAll(lanes, lane, 'third')).toBeGreaterThan(before / 2)
  })

  test('large messages get few places, and always one', () => {
    const lanes = create()
    expect(takeAll(lanes, lane, 'large', 16 * 1024 * 1024)).toBe(4)
    expect(takeAll(lanes, lane, 'huge', 1024 ** 3)).toBe(1)
  })
})

test('a place goes over to the slow lane, and is given back there', () => {
  const lanes = create()
  const before = { quick: lanes.room('quick', 'a', small), slow: lanes.room('slow', 'a', small) }
  const place = lanes.take('quick', 'a', small)
  expect([place.slowDown(), place.slowDown(), place.lane]).toEqual([true, true, 'slow'])
  expect([lanes.room('quick', 'a', small), lanes.room('slow', 'a', small)]).toEqual([before.quick, before.slow - 1])
  place.free()
  expect([lanes.room('quick', 'a', small), lanes.room('slow', 'a', small)]).toEqual([before.quick, before.slow])
})

test('a slow lane without room takes nobody in', () => {
  const lanes = create()
  takeAll(lanes, 'slow', 'a')
  const place = lanes.take('quick', 'a', small)
  expect([place.slowDown(), place.lane]).toEqual([false, 'quick'])
})
