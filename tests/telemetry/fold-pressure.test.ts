import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { FoldPressure } from '../../server/modules/telemetry/ingest/fold-pressure.ts'

/** Pressure over deltas that a test stores and aggregates, at a time that it sets. */
function openPressure() {
  let now = 0
  let deltas = 0
  const waiting = new Map<string, string[]>()
  const seen = { looks: 0, isAway: false }
  const pressure = new FoldPressure({
    nowMs: () => now,
    stillWaiting: async (tenant, deltaIds) => {
      seen.looks += 1
      if (seen.isAway) throw new Error('away')
      return new Set(deltaIds.filter((id) => waiting.get(tenant)?.includes(id)))
    },
  })
  /** A second of ingest, by a delta each 100 ms. */
  const ingestSecond = (tenant: string, events = 1000) => {
    for (let at = 0; at < 10; at += 1) {
      const id = `delta-${deltas++}`
      waiting.getOrInsertComputed(tenant, () => []).push(id)
      pressure.committed(tenant, id, events)
      now += 100
    }
  }
  /** Looks, and returns the pause that was found. */
  const found = async (tenant: string) => {
    pressure.pauseMs(tenant)
    await turn()
    now += 100
    return pressure.pauseMs(tenant)
  }
  const fold = (tenant: string, keep: (id: string, at: number) => boolean = () => false) =>
    waiting.set(tenant, (waiting.get(tenant) ?? []).filter(keep))
  const pass = (ms: number) => {
    now += ms
  }
  return { pressure, seen, ingestSecond, found, fold, pass, waiting }
}

test('nothing is slowed down, or looked for, before it starts and while aggregation keeps up', async () => {
  const { pressure, seen, ingestSecond, found, fold } = openPressure()
  ingestSecond('acme')
  ingestSecond('acme')
  expect(await found('acme')).toBe(0)
  pressure.start()
  for (let second = 0; second < 10; second += 1) {
    ingestSecond('acme')
    expect(await found('acme')).toBe(0)
    fold('acme')
  }
  expect(seen.looks).toBeLessThanOrEqual(10)
})

test('pauses grow with the lag up to a second, and end when aggregation has caught up', async () => {
  const { pressure, ingestSecond, found, fold, pass } = openPressure()
  pressure.start()
  const pauses = []
  for (let second = 0; second < 11; second += 1) {
    ingestSecond('acme')
    pauses.push(await found('acme'))
  }
  expect(pauses.slice(0, 7)).toEqual([0, 0, 0, 0, 0, 0, 0])
  expect(pauses[7]).toBeGreaterThan(500)
  expect(pauses.slice(8)).toEqual([1000, 1000, 1000])
  expect(await found('globex')).toBe(0)
  fold('acme')
  pass(250)
  expect(await found('acme')).toBe(0)
})

test('a delta that cannot be read slows nothing down once a later one is aggregated', async () => {
  const { pressure, ingestSecond, found, fold } = openPressure()
  pressure.start()
  for (let second = 0; second < 9; second += 1) ingestSecond('acme')
  // The first delta stays for ever.
  const damaged = (id: string) => id === 'delta-0'
  fold('acme', damaged)
  expect(await found('acme')).toBe(0)
  for (let second = 0; second < 5; second += 1) {
    ingestSecond('acme')
    fold('acme', damaged)
    expect(await found('acme')).toBe(0)
  }
})

test('a few events cost no look', async () => {
  const { pressure, seen, ingestSecond, found } = openPressure()
  pressure.start()
  for (let second = 0; second < 20; second += 1) ingestSecond('quiet', 1)
  expect(await found('quiet')).toBe(0)
  expect(seen.looks).toBe(0)
})

test('some events a second cost one look for each 256 of them', async () => {
  const { pressure, seen, ingestSecond, found, fold, waiting } = openPressure()
  pressure.start()
  for (let second = 0; second < 32; second += 1) {
    ingestSecond('steady', 8)
    // The newest delta is always left.
    fold('steady', (id) => id === waiting.get('steady')!.at(-1))
    expect(await found('steady')).toBe(0)
  }
  expect(seen.looks).toBeGreaterThan(0)
  expect(seen.looks).toBeLessThanOrEqual((32 * 80) / 256)
})

test('a pause does not outlast a time without ingest', async () => {
  const { pressure, ingestSecond, found, pass } = openPressure()
  pressure.start()
  for (let second = 0; second < 10; second += 1) ingestSecond('acme')
  expect(await found('acme')).toBe(1000)
  pass(60_000)
  expect(pressure.pauseMs('acme')).toBe(0)
})

test('a database that is away is no error, and stopping ends all pauses', async () => {
  const { pressure, seen, ingestSecond, found } = openPressure()
  pressure.start()
  seen.isAway = true
  for (let second = 0; second < 10; second += 1) ingestSecond('acme')
  await expect(found('acme')).resolves.toBeGreaterThanOrEqual(0)
  pressure.stop()
  expect(pressure.pauseMs('acme')).toBe(0)
})
