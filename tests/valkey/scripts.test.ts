import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import fc from 'fast-check'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Charge, MemoryRateLimiter, type RateDecision } from '../../server/http/rate-limits/rate-limiter.ts'
import { decisionOfNumbers } from '../../server/limits/decision-numbers.ts'
import { ValkeyServer } from './valkey-server.ts'

/** The scripts in a real server, with a clock that the tests set: what they decide is what the memory limiter decides. */

const folder = resolve(import.meta.dirname, '../../server/limits')
const read = (name: string) => readFileSync(`${folder}/${name}.lua`, 'utf8')
/** The last argument is the time, in ms. */
const clock = '{ math.floor(ARGV[#ARGV] / 1000), (ARGV[#ARGV] % 1000) * 1000 }'
const script = (name: string) => `${read('slots').replace("redis.call('TIME')", clock)}\n${read(name)}`
const scripts = { consume: script('consume'), refund: script('refund') }
const startMs = 1_700_000_000_000

let server: ValkeyServer
let client: Redis
beforeAll(async () => {
  expect(scripts.consume).not.toContain("'TIME'")
  server = await ValkeyServer.start()
  client = server.client()
})
afterAll(async () => {
  client.disconnect()
  await server.remove()
})
beforeEach(() => client.flushall())

async function take(charges: readonly Charge[], nowMs: number): Promise<RateDecision> {
  const keys = charges.map((charge) => charge.key)
  const quotas = charges.map((charge) => charge.quota)
  return decisionOfNumbers(
    (await client.eval(scripts.consume, keys.length, ...keys, ...quotas, nowMs)) as number[],
    charges,
  )
}

async function refund(charges: readonly Charge[], takenAtMs: number, nowMs: number): Promise<void> {
  const keys = charges.map((charge) => charge.key)
  await client.eval(scripts.refund, keys.length, ...keys, takenAtMs, nowMs)
}

const token = (key: string, quota: number): Charge => ({ policy: 'token', key, quota })
const tenant = (key: string, quota: number): Charge => ({ policy: 'tenant', key, quota })

const gap = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 120 }) },
  { weight: 3, arbitrary: fc.integer({ min: 100, max: 9000 }) },
  { weight: 1, arbitrary: fc.constantFrom(59_900, 59_999, 60_000, 60_001, 60_099, 60_100) },
)

test('takes and refunds of any order get the answers of the memory limiter, to the last number', async () => {
  const step = fc.record({
    gap,
    name: fc.constantFrom('a', 'b'),
    perToken: fc.integer({ min: 0, max: 5 }),
    perTenant: fc.integer({ min: 1, max: 8 }),
    refund: fc.option(fc.nat(5), { freq: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      await client.flushall()
      const time = { nowMs: startMs }
      const memory = new MemoryRateLimiter({ nowMs: () => time.nowMs })
      const taken: [Charge[], number][] = []
      for (const { gap: pause, name, perToken, perTenant, refund: refunded } of steps) {
        time.nowMs += pause
        const earlier = refunded === null ? undefined : taken.at(-1 - refunded)
        if (earlier) {
          await memory.refund(...earlier)
          await refund(...earlier, time.nowMs)
        }
        const charges = [token(name, perToken), tenant('t', perTenant)]
        const decision = await take(charges, time.nowMs)
        expect(decision).toEqual(await memory.take(charges))
        if (decision.allowed) taken.push([charges, decision.takenAtMs])
      }
    }),
    { numRuns: 150, seed: 7 },
  )
})

test('no window of 60 s ever has more than the quota, and who waits 0.1 s longer than a minute passes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.tuple(gap, fc.integer({ min: 1, max: 4 })), { minLength: 20, maxLength: 60 }),
      async (quota, bursts) => {
        await client.flushall()
        let nowMs = startMs
        const passed: number[] = []
        const within = (ms: number) => passed.filter((time) => nowMs - time < ms).length
        for (const [pause, times] of bursts) {
          nowMs += pause
          for (let time = 0; time < times; time++) {
            const { allowed } = await take([token('a', quota)], nowMs)
            if (allowed) expect(within(60_000)).toBeLessThan(quota)
            else expect(within(60_100)).toBeGreaterThanOrEqual(quota)
            if (allowed) passed.push(nowMs)
          }
        }
      },
    ),
    { numRuns: 100, seed: 7 },
  )
})

describe('a server whose clock is set back', () => {
  const fill = async () => {
    for (const ms of [0, 500, 10_000]) await take([token('a', 3)], startMs + ms)
  }

  test('by a moment, lets it stand still', async () => {
    await fill()
    expect((await take([token('a', 4)], startMs + 9500)).policies[0]).toMatchObject({ remaining: 0, resetSeconds: 50 })
    expect((await take([token('a', 4)], startMs + 9800)).allowed).toBe(false)
    expect((await take([token('a', 4)], startMs + 60_000)).allowed).toBe(true)
  })

  test('by an hour, counts what was counted as of now: nobody gets more, nobody waits for an hour', async () => {
    await fill()
    const nowMs = startMs - 3_600_000
    expect(await take([token('a', 3)], nowMs)).toMatchObject({ allowed: false, retryAfterSeconds: 60 })
    expect((await take([token('a', 3)], nowMs + 59_999)).allowed).toBe(false)
    expect((await take([token('a', 3)], nowMs + 60_000)).policies[0]?.remaining).toBe(2)
  })
})

test('a counter has one element for each slot with requests, never more than 601, and ends with its window', async () => {
  for (let slot = 0; slot < 1300; slot++) {
    const charges = [token('a', 100_000), tenant('t', 100_000)]
    for (let time = 0; time < 3; time++) await take(charges, startMs + slot * 100 + time)
    if (slot > 600) expect(await client.llen('a')).toBeLessThanOrEqual(601)
  }
  expect(await client.llen('a')).toBeGreaterThan(590)
  expect(await client.memory('USAGE', 'a')).toBeLessThan(32_000)
  for (const key of ['a', 't']) {
    const life = await client.pttl(key)
    expect(life).toBeGreaterThan(55_000)
    expect(life).toBeLessThanOrEqual(60_000)
  }
  expect((await client.keys('*')).sort()).toEqual(['a', 't'])
})

test('the work of a take does not grow with what is counted', async () => {
  const callsOf = async (work: () => Promise<unknown>) => {
    const calls = async () => {
      const text = await client.info('commandstats')
      return [...text.matchAll(/cmdstat_(?!eval|info)\w+(?:\|\w+)?:calls=(\d+)/g)].reduce(
        (sum, [, n]) => sum + Number(n),
        0,
      )
    }
    const before = await calls()
    await work()
    return (await calls()) - before
  }
  const quota = 100_000
  await take([token('a', quota)], startMs)
  const first = await callsOf(() => take([token('a', quota)], startMs + 100))
  for (let slot = 2; slot < 500; slot++) await take([token('a', quota)], startMs + slot * 100)
  expect(await callsOf(() => take([token('a', quota)], startMs + 50_000))).toBe(first)
  expect(await callsOf(() => take([token('a', 500)], startMs + 50_100))).toBeLessThanOrEqual(first)
})
