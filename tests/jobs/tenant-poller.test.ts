import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import { createTenantPoller, type TenantPollerDeps } from '../../server/jobs/tenant-poller.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const words = { away: 'away', failed: 'failed', unlisted: 'unlisted' }
/** Between looks at what is due in time. */
const tickMs = 50

type Look = (tenantId: string) => Promise<number | undefined>

/** Tenants that take `look`, and when each was looked at, in milliseconds since the beginning. */
function openLoop(tenants: string[], look: Look, options: Partial<TenantPollerDeps> = {}) {
  const looks: [tenantId: string, atMs: number][] = []
  const logged: string[] = []
  const others = { heard: (_: string) => {}, isClosed: false }
  const beganMs = Date.now()
  const loop = createTenantPoller({
    look: (tenantId) => {
      looks.push([tenantId, Date.now() - beganMs])
      return look(tenantId)
    },
    listTenants: async () => [...tenants],
    hear: (heard) => {
      others.heard = heard
      return {
        close: () => {
          others.isClosed = true
        },
      }
    },
    log: {
      warn: (_, message) => logged.push(`warn ${message}`),
      error: (_, message) => logged.push(`error ${message}`),
    },
    ...{ words, looksAtOnce: 2, sweepMs: 5_000, nowMs: () => Date.now(), ...options },
  })
  return {
    ...{ loop, tenants, looks, logged, others },
    timesOf: (tenantId: string) => looks.filter(([looked]) => looked === tenantId).map(([, atMs]) => atMs),
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
  }
}

/** Looks that last until they are told to end. */
function heldLooks() {
  const ends = new Map<string, (nextMs: number | undefined) => void>()
  const look: Look = (tenantId) => new Promise((resolve) => ends.set(tenantId, resolve))
  return { look, end: (tenantId: string, nextMs: number | undefined = 60_000) => ends.get(tenantId)?.(nextMs) }
}

/** That each is the time, or later by no more than a tick. */
function expectAbout(times: readonly number[], expected: readonly number[]) {
  expect(times).toHaveLength(expected.length)
  for (const [at, expectedMs] of expected.entries()) {
    expect(times[at]).toBeGreaterThanOrEqual(expectedMs)
    expect(times[at]).toBeLessThanOrEqual(expectedMs + tickMs * (at + 1))
  }
}

test('each tenant is looked at when it said, and nothing happens before the start', async () => {
  const { loop, looks, timesOf, pass } = openLoop(['acme', 'globex'], async (id) => (id === 'acme' ? 1_000 : 3_000))
  loop.wake('acme')
  await pass(1_000)
  expect(looks).toEqual([])
  loop.start()
  await pass(6_500)
  expectAbout(timesOf('acme'), [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000])
  expectAbout(timesOf('globex'), [1_000, 4_000, 7_000])
  await loop.stop()
})

test('one that is woken is looked at at once or in its time, also one that was not known', async () => {
  const { loop, timesOf, pass } = openLoop(['acme'], async () => 60_000)
  loop.start()
  await pass(1_010)
  loop.wake('acme')
  loop.wake('new')
  await pass(1)
  expect([timesOf('acme').slice(1), timesOf('new')]).toEqual([[1_010], [1_010]])
  loop.wake('acme', 5_000)
  loop.wake('acme', 300)
  loop.wake('acme', 700)
  await pass(10_000)
  expectAbout(timesOf('acme').slice(2), [1_311])
  await loop.stop()
})

test('woken often it is looked at once, and woken while it is being looked at once more', async () => {
  const held = heldLooks()
  const { loop, timesOf, pass } = openLoop(['acme'], held.look)
  loop.start()
  await pass(100)
  for (let time = 0; time < 5; time += 1) loop.wake('acme')
  await pass(1_000)
  expect(timesOf('acme')).toHaveLength(1)
  held.end('acme')
  await pass(1)
  expect(timesOf('acme').slice(1)).toEqual([1_100])
  held.end('acme')
  await pass(1_000)
  expect(timesOf('acme')).toHaveLength(2)
  // In its time where that is sooner than what the look finds.
  loop.wake('acme')
  await pass(1)
  loop.wake('acme', 2_000)
  held.end('acme')
  await pass(10_000)
  expectAbout(timesOf('acme').slice(3), [4_101])
  held.end('acme')
  await loop.stop()
})

test('a sweep finds tenants that nobody told of, seldom where it takes long; one that is gone is left alone', async () => {
  let listings = 0
  const { loop, tenants, timesOf, pass } = openLoop(
    ['acme'],
    async (id) => (tenants.includes(id) ? 1_000 : undefined),
    {
      async listTenants() {
        listings += 1
        if (listings === 3) await new Promise((resolve) => setTimeout(resolve, 1_000))
        return [...tenants]
      },
    },
  )
  loop.start()
  await pass(4_000)
  tenants.splice(0, 1, 'new')
  await pass(3_500)
  expectAbout(timesOf('new').slice(0, 1), [5_000])
  expectAbout(timesOf('acme'), [0, 1_000, 2_000, 3_000, 4_000])
  expect(listings).toBe(2)
  // The third takes a second, from 10 to 11: the fourth comes twenty seconds later.
  await pass(23_000)
  expect(listings).toBe(3)
  await pass(1_500)
  expect(listings).toBe(4)
  await loop.stop()
})

test('where tenants cannot be listed it says so, and those that are known go on', async () => {
  let isAway = false
  const { loop, tenants, logged, timesOf, pass } = openLoop(['acme'], async () => 1_000, {
    async listTenants() {
      if (isAway) throw new Error('away')
      return [...tenants]
    },
  })
  loop.start()
  await pass(1_000)
  isAway = true
  tenants.push('globex')
  await pass(5_000)
  expect([logged, timesOf('acme').length, timesOf('globex')]).toEqual([['warn unlisted'], 6, []])
  isAway = false
  await pass(5_000)
  expect(timesOf('globex').length).toBeGreaterThan(0)
  await loop.stop()
})

test('after failures it pauses, longer each time, whoever wakes it; a success begins anew', async () => {
  let problem: Error | undefined = new DomainError('hub-unavailable', 'The database is away.')
  const { loop, logged, timesOf, pass } = openLoop(['acme', 'globex'], async (tenantId) => {
    if (tenantId === 'acme' && problem) throw problem
    return 1_000
  })
  loop.start()
  for (let ms = 0; ms < 40_000; ms += 100) {
    loop.wake('acme')
    await pass(100)
    if (ms === 1_000) problem = new Error('broken')
  }
  expectAbout(timesOf('acme'), [0, 500, 1_500, 3_500, 7_500, 15_500, 30_500])
  expect(timesOf('globex').length).toBeGreaterThan(35)
  expect(logged).toEqual([...Array(2).fill('warn away'), ...Array(5).fill('error failed')])
  problem = undefined
  await pass(8_000)
  const sinceThen = timesOf('acme').slice(7)
  expectAbout(sinceThen.slice(0, 3), [45_500, 46_500, 47_500])
  problem = new Error('broken')
  await pass(1_600)
  expect(timesOf('acme').length).toBe(7 + sinceThen.length + 2)
  await loop.stop()
})

test('of many tenants the one that waits the longest is next, and one that is always woken keeps none waiting', async () => {
  const all = Array.from({ length: 20 }, (_, at) => `t${at}`)
  const slow: Look = () => new Promise((resolve) => setTimeout(resolve, 100, 60_000))
  const { loop, looks, timesOf, pass } = openLoop(all, slow)
  loop.start()
  for (let ms = 0; ms < 1_200; ms += 10) {
    loop.wake('loud')
    await pass(10)
  }
  expect(new Set(looks.map(([tenantId]) => tenantId))).toEqual(new Set(['loud', ...all]))
  // While the others wait it gets a turn as each of them does, and afterwards one of both places.
  expect(timesOf('loud').filter((atMs) => atMs < 1_000).length).toBeLessThanOrEqual(2)
  for (const tenantId of all) expect(timesOf(tenantId)).toHaveLength(1)
  await Promise.all([loop.stop(), pass(100)])
})

test('no more are looked at at once than was said', async () => {
  const held = heldLooks()
  const { loop, looks, pass } = openLoop(['a', 'b', 'c', 'd'], held.look)
  loop.start()
  await pass(1_000)
  expect(looks.map(([tenantId]) => tenantId)).toEqual(['a', 'b'])
  held.end('b')
  await pass(1)
  expect(looks.map(([tenantId]) => tenantId)).toEqual(['a', 'b', 'c'])
  for (const tenantId of ['a', 'c']) held.end(tenantId)
  await pass(1)
  held.end('d')
  await loop.stop()
})

test('what other processes tell of is looked at at once; that listening begins names nobody', async () => {
  const { loop, others, timesOf, looks, pass } = openLoop(['acme'], async () => 60_000)
  loop.start()
  await pass(1_010)
  others.heard('')
  others.heard('acme')
  await pass(1)
  expect([timesOf('acme').slice(1), looks.length]).toEqual([[1_010], 2])
  await loop.stop()
  expect(others.isClosed).toBe(true)
})

test('to stop waits for looks that go on, and nothing begins after it, until it is started again', async () => {
  const held = heldLooks()
  const { loop, looks, pass } = openLoop(['a', 'b', 'c'], held.look)
  loop.start()
  await pass(100)
  let isStopped = false
  const stopping = loop.stop().then(() => {
    isStopped = true
  })
  await pass(60_000)
  expect([isStopped, looks.length]).toEqual([false, 2])
  for (const tenantId of ['a', 'b']) held.end(tenantId)
  await stopping
  loop.wake('c')
  await pass(60_000)
  expect([looks.length, vi.getTimerCount()]).toEqual([2, 0])
  loop.start()
  await pass(100)
  expect(looks).toHaveLength(4)
  for (const tenantId of ['a', 'b']) held.end(tenantId)
  await loop.stop()
})
