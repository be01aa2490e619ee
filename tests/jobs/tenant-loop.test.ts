import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import { type NextVisit, TenantLoop, type TenantLoopOptions } from '../../server/jobs/tenant-loop.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const messages = { unavailable: 'unavailable', failed: 'failed', unlisted: 'unlisted' }
/** Milliseconds between two searches for due tenants. */
const tickMs = 50

type Visit = TenantLoopOptions['visit']

/** Starts a loop over tenants, and records when each was visited, in milliseconds since the beginning. */
function openLoop(tenants: string[], visit: Visit, options: Partial<TenantLoopOptions> = {}) {
  const visits: [tenantId: string, atMs: number][] = []
  const logged: string[] = []
  const others = { wake: (_: string) => {}, isClosed: false }
  const beganMs = Date.now()
  const loop = new TenantLoop({
    visit: (tenantId, stopped) => {
      visits.push([tenantId, Date.now() - beganMs])
      return visit(tenantId, stopped)
    },
    listTenants: async () => [...tenants],
    listen: (wake) => {
      others.wake = wake
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
    ...{ messages, concurrency: 2, listMs: 5_000, nowMs: () => Date.now(), ...options },
  })
  return {
    ...{ loop, tenants, visits, logged, others },
    timesOf: (tenantId: string) => visits.filter(([visited]) => visited === tenantId).map(([, atMs]) => atMs),
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
  }
}

/** Returns visits that last until the test ends them. */
function heldVisits() {
  const ends = new Map<string, (next: NextVisit) => void>()
  const visit: Visit = (tenantId) => new Promise((resolve) => ends.set(tenantId, resolve))
  return {
    visit,
    end: (tenantId: string, inMs = 60_000) => ends.get(tenantId)?.(inMs),
    endForgotten: (tenantId: string) => ends.get(tenantId)?.(undefined),
  }
}

/** Expects each time, or one that is later by no more than a tick. */
function expectAbout(times: readonly number[], expected: readonly number[]) {
  expect(times).toHaveLength(expected.length)
  for (const [at, expectedMs] of expected.entries()) {
    expect(times[at]).toBeGreaterThanOrEqual(expectedMs)
    expect(times[at]).toBeLessThanOrEqual(expectedMs + tickMs * (at + 1))
  }
}

test('each tenant is visited when it said, and nothing happens before the start', async () => {
  const { loop, visits, timesOf, pass } = openLoop(['acme', 'globex'], async (id) => (id === 'acme' ? 1_000 : 3_000))
  loop.wake('acme')
  await pass(1_000)
  expect(visits).toEqual([])
  loop.start()
  await pass(6_500)
  expectAbout(timesOf('acme'), [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000])
  expectAbout(timesOf('globex'), [1_000, 4_000, 7_000])
  await loop.stop()
})

test('a woken tenant is visited at once or at its time, also an unknown one', async () => {
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

test('many wakes cause one visit, and a wake during a visit causes another', async () => {
  const held = heldVisits()
  const { loop, timesOf, pass } = openLoop(['acme'], held.visit)
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
  // At its time if that is sooner than the time that the visit returns.
  loop.wake('acme')
  await pass(1)
  loop.wake('acme', 2_000)
  held.end('acme')
  await pass(10_000)
  expectAbout(timesOf('acme').slice(3), [4_101])
  held.end('acme')
  await loop.stop()
})

test('the list finds tenants that nobody woke, rarely if it is slow; a removed one is forgotten', async () => {
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

test('a list that fails is logged, and known tenants are still visited', async () => {
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

test('after failures it pauses, longer each time, regardless of wakes; a success resets the pause', async () => {
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
  expect(logged).toEqual([...Array(2).fill('warn unavailable'), ...Array(5).fill('error failed')])
  problem = undefined
  await pass(8_000)
  const sinceThen = timesOf('acme').slice(7)
  expectAbout(sinceThen.slice(0, 3), [45_500, 46_500, 47_500])
  problem = new Error('broken')
  await pass(1_600)
  expect(timesOf('acme').length).toBe(7 + sinceThen.length + 2)
  await loop.stop()
})

test('the longest overdue tenant is next, and one that is always woken does not delay the others', async () => {
  const all = Array.from({ length: 20 }, (_, at) => `t${at}`)
  const slow: Visit = () => new Promise((resolve) => setTimeout(resolve, 100, 60_000))
  const { loop, visits, timesOf, pass } = openLoop(all, slow)
  loop.start()
  for (let ms = 0; ms < 1_200; ms += 10) {
    loop.wake('loud')
    await pass(10)
  }
  expect(new Set(visits.map(([tenantId]) => tenantId))).toEqual(new Set(['loud', ...all]))
  // It gets one turn while the others wait, and one of both places afterwards.
  expect(timesOf('loud').filter((atMs) => atMs < 1_000).length).toBeLessThanOrEqual(2)
  for (const tenantId of all) expect(timesOf(tenantId)).toHaveLength(1)
  await Promise.all([loop.stop(), pass(100)])
})

test('no more tenants are visited at once than the limit', async () => {
  const held = heldVisits()
  const { loop, visits, pass } = openLoop(['a', 'b', 'c', 'd'], held.visit)
  loop.start()
  await pass(1_000)
  expect(visits.map(([tenantId]) => tenantId)).toEqual(['a', 'b'])
  held.end('b')
  await pass(1)
  expect(visits.map(([tenantId]) => tenantId)).toEqual(['a', 'b', 'c'])
  for (const tenantId of ['a', 'c']) held.end(tenantId)
  await pass(1)
  held.end('d')
  await loop.stop()
})

test('tenants that other processes name are visited at once; an empty name is ignored', async () => {
  const { loop, others, timesOf, visits, pass } = openLoop(['acme'], async () => 60_000)
  loop.start()
  await pass(1_010)
  others.wake('')
  others.wake('acme')
  await pass(1)
  expect([timesOf('acme').slice(1), visits.length]).toEqual([[1_010], 2])
  await loop.stop()
  expect(others.isClosed).toBe(true)
})

test('stop waits for running visits, and nothing starts after it, until the next start', async () => {
  const held = heldVisits()
  const { loop, visits, pass } = openLoop(['a', 'b', 'c'], held.visit)
  loop.start()
  await pass(100)
  let isStopped = false
  const stopping = loop.stop().then(() => {
    isStopped = true
  })
  await pass(60_000)
  expect([isStopped, visits.length]).toEqual([false, 2])
  for (const tenantId of ['a', 'b']) held.end(tenantId)
  await stopping
  loop.wake('c')
  await pass(60_000)
  expect([visits.length, vi.getTimerCount()]).toEqual([2, 0])
  loop.start()
  await pass(100)
  expect(visits).toHaveLength(4)
  for (const tenantId of ['a', 'b']) held.end(tenantId)
  await loop.stop()
})

test('a wake during the last moments of a visit is not lost, even if the visit returned no time', async () => {
  const held = heldVisits()
  const { loop, timesOf, pass } = openLoop([], held.visit)
  loop.start()
  loop.wake('acme')
  await pass(1)
  held.endForgotten('acme')
  // The visit has ended, and the loop has not noticed it yet.
  for (let turns = 0; turns < 5; turns += 1) {
    await Promise.resolve()
    loop.wake('acme')
  }
  await pass(1)
  expect(timesOf('acme')).toHaveLength(2)
  held.endForgotten('acme')
  await pass(60_000)
  expect([timesOf('acme').length, loop.has('acme')]).toEqual([2, false])
  await loop.stop()
})

test('a tenant without work is forgotten, and costs nothing until it is woken or listed', async () => {
  const { loop, tenants, timesOf, pass } = openLoop([], async () => undefined)
  loop.start()
  loop.wake('acme', 300)
  await pass(200)
  expect([timesOf('acme'), loop.has('acme')]).toEqual([[], true])
  await pass(800)
  expectAbout(timesOf('acme'), [300])
  // Only the timer of the next list is left.
  expect([loop.has('acme'), vi.getTimerCount()]).toEqual([false, 1])
  tenants.push('acme')
  await pass(5_000)
  expectAbout(timesOf('acme'), [300, 5_000])
  await loop.stop()
})

test('a rest is kept regardless of wakes, and a wake during it or the visit is not lost', async () => {
  const { loop, timesOf, pass } = openLoop(['acme'], async () => ({ inMs: 20_000, restMs: 2_000 }))
  loop.start()
  await pass(500)
  loop.wake('acme')
  await pass(1_000)
  expect(timesOf('acme')).toHaveLength(1)
  await pass(3_000)
  expectAbout(timesOf('acme'), [0, 2_000])
  await pass(20_000)
  expectAbout(timesOf('acme'), [0, 2_000, 22_000])
  await loop.stop()
})

test('tenants with work left are visited again at once, in turns with the others', async () => {
  const many = Array.from({ length: 10 }, (_, at) => `t${at}`)
  const visit: Visit = (tenantId) =>
    new Promise((resolve) => setTimeout(resolve, 10, tenantId.startsWith('large') ? 0 : 60_000))
  const { loop, visits, pass } = openLoop(['large1', 'large2', ...many], visit, { concurrency: 1 })
  loop.start()
  await pass(300)
  const order = visits.map(([tenantId]) => tenantId)
  expect(order.slice(0, 8)).toEqual(['large1', 'large1', 'large2', 'large1', 't0', 'large2', 't1', 'large1'])
  // The large ones have every place when the others have been visited.
  expect(new Set(order.slice(24))).toEqual(new Set(['large1', 'large2']))
  await Promise.all([loop.stop(), pass(100)])
})

test('a list may name its tenants one by one, and the signal of a visit fires at the stop', async () => {
  const next = Promise.withResolvers<void>()
  let isStopped = false
  const { loop, timesOf, pass } = openLoop(
    [],
    (_, stopped) =>
      new Promise((resolve) => {
        stopped.addEventListener('abort', () => {
          isStopped = true
          resolve(0)
        })
      }),
    {
      async *listTenants() {
        yield 'acme'
        await next.promise
        yield 'globex'
      },
    },
  )
  loop.start()
  await pass(100)
  expect([timesOf('acme').length, timesOf('globex').length]).toEqual([1, 0])
  next.resolve()
  await pass(100)
  expect(timesOf('globex')).toHaveLength(1)
  await loop.stop()
  expect(isStopped).toBe(true)
})

test('an unavailable database is logged for one tenant per retry', async () => {
  const many = Array.from({ length: 20 }, (_, at) => `t${at}`)
  const { loop, logged, pass } = openLoop(many, async () => {
    throw new DomainError('hub-unavailable', 'The database is away.')
  })
  loop.start()
  await pass(1_600)
  // At 0, 500 and 1,500 ms.
  expect(logged).toEqual(Array(3).fill('warn unavailable'))
  await loop.stop()
})
