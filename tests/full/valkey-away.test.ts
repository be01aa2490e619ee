import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Charge } from '../../server/http/rate-limits/rate-limiter.ts'
import { ValkeyConnection } from '../../server/limits/valkey-connection.ts'
import { ValkeyLimiter } from '../../server/limits/valkey-limiter.ts'
import { FakeValkey } from '../limits/fake-valkey.ts'
import { scaled } from '../support/machine-speed.ts'

const quota = 10
const charges: readonly Charge[] = [
  { policy: 'token', key: 'hub-read token a', quota },
  { policy: 'tenant', key: 'hub-read tenant t', quota: 1000 },
]
const silenceMsMax = scaled(300)
const password = 'hunter2-secret'

async function openOn(port: number) {
  const log = { info: vi.fn(), warn: vi.fn() }
  const changes: string[] = []
  const valkey = new ValkeyConnection({
    url: `valkey://user:${password}@127.0.0.1:${port}/0`,
    prefix: '{test}:',
    log,
    silenceMsMax,
    onChange: (isUp) => changes.push(isUp ? 'up' : 'away'),
  })
  onTestFinished(() => valkey.close())
  await valkey.start()
  const limiter = new ValkeyLimiter(valkey)
  /** How many of so many requests at once pass. */
  const passed = async (times: number) => {
    const decisions = await Promise.all(Array.from({ length: times }, () => limiter.take(charges)))
    return decisions.filter((each) => each.allowed).length
  }
  return { valkey, limiter, log, changes, passed }
}

async function fake(...given: Parameters<typeof FakeValkey.start>): Promise<FakeValkey> {
  const server = await FakeValkey.start(...given)
  onTestFinished(() => server.close())
  return server
}

describe('a Valkey that is not there at the start', () => {
  const moods = {
    'refuses connections': null,
    'accepts and is silent': 'silent',
    'loads its data': { error: 'LOADING Redis is loading the dataset in memory' },
    'knows another password': { error: 'WRONGPASS invalid username-password pair or user is disabled.' },
    'may not be written to': { error: "READONLY You can't write against a read only replica." },
  } as const
  for (const [name, mood] of Object.entries(moods)) {
    test(`${name}: the start goes on, limits hold, and it is used once it is well`, async () => {
      const server = await fake(mood ?? 'well')
      const { port } = server
      if (mood === null) await server.close()
      const { log, changes, passed, limiter } = await openOn(port)
      expect(await passed(30)).toBe(quota)
      expect((await limiter.take(charges)).retryAfterSeconds).toBeGreaterThan(0)
      expect(changes).toEqual(['away'])
      expect(log.warn).toHaveBeenCalledTimes(1)
      expect(JSON.stringify(log.warn.mock.calls)).not.toContain(password)

      server.mood = 'well'
      if (mood === null) await server.listen(port)
      await expect.poll(() => changes).toEqual(['away', 'up'])
      expect(log.info).toHaveBeenCalledTimes(1)
      expect(await passed(30)).toBe(30)
      expect(log.warn).toHaveBeenCalledTimes(1)
    })
  }
})

describe('a Valkey that goes away under load', () => {
  const ways: Record<string, (server: FakeValkey) => unknown> = {
    'ends its connections': (server) => server.close(),
    'becomes silent': (server) => {
      server.mood = 'silent'
    },
    'is full': (server) => {
      server.mood = { error: "OOM command not allowed when used memory > 'maxmemory'." }
    },
    'becomes a replica': (server) => {
      server.mood = { error: "READONLY You can't write against a read only replica." }
    },
    'is part of a cluster': (server) => {
      server.mood = { error: 'MOVED 3999 127.0.0.1:6381' }
    },
  }
  for (const [name, goAway] of Object.entries(ways)) {
    test(`${name}: each process allows its share, and nobody waits twice`, async () => {
      const server = await fake()
      server.processes = 3
      const { port } = server
      const { log, changes, passed } = await openOn(port)
      expect(await passed(50)).toBe(50)

      const closing = goAway(server)
      // A third of ten, rounded up: with the other two no more than one quota and a little.
      expect(await passed(50)).toBe(4)
      // From then on they are answered in the same turn of the event loop.
      for (let time = 0; time < 20; time++) expect(await Promise.race([passed(5), turn('waits')])).toBe(0)
      expect(log.warn.mock.calls).toEqual([[{ reason: expect.any(String), processes: 3 }, expect.any(String)]])
      expect(changes).toEqual(['up', 'away'])

      await closing
      server.mood = 'well'
      if (closing) await server.listen(port)
      await expect.poll(() => changes).toEqual(['up', 'away', 'up'])
      expect(await passed(50)).toBe(50)
    })
  }

  test('is found out by nobody’s request: a heartbeat does', async () => {
    const server = await fake()
    const { changes } = await openOn(server.port)
    server.mood = 'silent'
    await expect.poll(() => changes).toEqual(['up', 'away'])
  })

  test('a lower number of processes counts only after a minute, a higher one at once', async () => {
    const server = await fake()
    server.processes = 4
    const { valkey, changes } = await openOn(server.port)
    expect(valkey.processes).toBe(4)
    for (const [said, counts] of [
      [1, 4],
      [6, 6],
    ] as const) {
      server.processes = said
      const before = server.calls.length
      const changed = changes.length
      server.mood = { error: 'ERR' }
      await expect.poll(() => changes.length).toBe(changed + 1)
      server.mood = 'well'
      await expect.poll(() => changes.length).toBe(changed + 2)
      expect(server.calls.length).toBeGreaterThan(before)
      expect(valkey.processes).toBe(counts)
    }
  })
})

test('a refund goes where the request was counted', async () => {
  const server = await fake({ error: 'ERR' })
  const { changes, limiter, passed } = await openOn(server.port)
  const one: Charge[] = [{ policy: 'token', key: 'hub-read token b', quota: 1 }]
  const { takenAtMs, allowed } = await limiter.take(one)
  expect([allowed, (await limiter.take(one)).allowed]).toEqual([true, false])
  // Even when Valkey is back, and when the charges come from another process.
  server.mood = 'well'
  await expect.poll(() => changes).toEqual(['away', 'up'])
  const before = server.calls.length
  await limiter.refund(structuredClone(one), takenAtMs)
  expect(server.calls.length).toBe(before)
  server.mood = { error: 'ERR' }
  await passed(1)
  expect((await limiter.take(one)).allowed).toBe(true)
})

test('a script travels once on a connection, then by its digest; a server that forgets it gets it again', async () => {
  const server = await fake()
  const { passed, log } = await openOn(server.port)
  const began = server.calls.length
  expect(await passed(100)).toBe(100)
  expect(server.calls.slice(began)).toEqual(Array(100).fill('digest'))
  server.scripts.clear()
  expect(await passed(100)).toBe(100)
  const whole = server.calls.slice(began + 100).filter((each) => each === 'whole')
  expect(whole.length).toBeGreaterThan(0)
  expect(whole.length).toBeLessThan(10)
  expect(log.warn).not.toHaveBeenCalled()
})
