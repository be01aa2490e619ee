import { expect, test } from 'vitest'
import { type Charge, MemoryRateLimiter } from '../../server/http/rate-limits/rate-limiter.ts'
import { SlidingWindow } from '../../server/http/rate-limits/sliding-window.ts'

const token = (key: string, quota: number): Charge => ({ policy: 'token', key, quota })
const tenant = (key: string, quota: number): Charge => ({ policy: 'tenant', key, quota })

test('however many tokens a tenant mints, its own counter stays, and no more than its limit passes', async () => {
  const limiter = new MemoryRateLimiter({ nowMs: () => 1000, countersMax: { token: 50, tenant: 10, address: 10 } })
  let passed = 0
  for (let each = 0; each < 2000; each++) {
    const { allowed } = await limiter.take([token(`token ${each}`, 5), tenant('t', 300)])
    if (allowed) passed++
  }
  expect(passed).toBe(300)
  expect(limiter.size).toBeLessThanOrEqual(51)
})

test('who is forgotten is who was used least recently: a token in use keeps its count', async () => {
  const limiter = new MemoryRateLimiter({ nowMs: () => 1000, countersMax: { token: 50 } })
  let passed = 0
  for (let each = 0; each < 2000; each++) {
    await limiter.take([token(`token ${each}`, 5)])
    if (each % 10 === 0 && (await limiter.take([token('busy', 5)])).allowed) passed++
  }
  expect(passed).toBe(5)
})

test('counters that nobody used for a minute are let go within another one; those in use keep their count', async () => {
  const clock = { nowMs: 0 }
  const limiter = new MemoryRateLimiter({ nowMs: () => clock.nowMs })
  for (let each = 0; each < 5000; each++) await limiter.take([token(`old ${each}`, 1), tenant('t', 10_000)])
  for (clock.nowMs = 30_000; clock.nowMs <= 120_000; clock.nowMs += 30_000) {
    expect((await limiter.take([token('young', 2)])).allowed).toBe(true)
    expect((await limiter.take([token('young', 1)])).allowed).toBe(false)
  }
  // The one in use, in both generations, and the tenant of whom nobody came since.
  expect(limiter.size).toBeLessThanOrEqual(3)
})

test('a counter takes no more room than there are slots in a minute', () => {
  const window = new SlidingWindow()
  let largest = 0
  for (let nowMs = 0; nowMs < 600_000; nowMs += 20) {
    window.expire(nowMs)
    window.add(nowMs)
    largest = Math.max(largest, JSON.stringify(window).length)
  }
  // 601 slots that count and as many that are let go of together, of a time and a count.
  expect(largest).toBeLessThan(1300 * 10)
  expect(window.sum).toBeLessThanOrEqual(60_000 / 20 + 5)
})
