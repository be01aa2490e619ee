import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anonymousCharges, authenticatedCharges, quotasOf } from '../../server/http/rate-limits/rate-limit-headers.ts'
import { type Charge, MemoryRateLimiter } from '../../server/http/rate-limits/rate-limiter.ts'

function limiterAt(startMs = 12_345) {
  const clock = { nowMs: startMs }
  return { clock, limiter: new MemoryRateLimiter({ nowMs: () => clock.nowMs, countersMax: { address: 100 } }) }
}

const charge = (key: string, quota: number, policy: Charge['policy'] = 'token'): Charge => ({ policy, key, quota })

test('never lets more than the quota through in any 60 seconds, and refuses no one 0.1 s after that', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.integer({ min: 0, max: 15_000 }), { minLength: 20, maxLength: 60 }),
      async (quota, gaps) => {
        const { clock, limiter } = limiterAt()
        const passed: number[] = []
        for (const gap of gaps) {
          clock.nowMs += gap
          const { allowed } = await limiter.take([charge('a', quota)])
          const within = (ms: number) => passed.filter((time) => clock.nowMs - time < ms).length
          if (allowed) expect(within(60_000)).toBeLessThan(quota)
          else expect(within(60_100)).toBeGreaterThanOrEqual(quota)
          if (allowed) passed.push(clock.nowMs)
        }
      },
    ),
    { numRuns: 300, seed: 7 },
  )
})

test('a request that waits as long as it was told passes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 20, maxLength: 40 }),
      async (quota, gaps) => {
        const { clock, limiter } = limiterAt()
        for (const gap of gaps) {
          clock.nowMs += gap
          const decision = await limiter.take([charge('a', quota), charge('b', quota + 1, 'tenant')])
          if (decision.allowed) continue
          expect(decision.retryAfterSeconds).toBeGreaterThanOrEqual(1)
          expect(decision.retryAfterSeconds).toBeLessThanOrEqual(60)
          clock.nowMs += decision.retryAfterSeconds * 1000
          expect((await limiter.take([charge('a', quota), charge('b', quota + 1, 'tenant')])).allowed).toBe(true)
        }
      },
    ),
    { numRuns: 200, seed: 7 },
  )
})

test('counts against all or none', async () => {
  const { limiter } = limiterAt()
  const tenant = charge('tenant', 3, 'tenant')
  for (let time = 0; time < 2; time++) expect((await limiter.take([charge('x', 2), tenant])).allowed).toBe(true)
  // The token has no room: the tenant, who has, must not pay.
  for (let time = 0; time < 5; time++) expect((await limiter.take([charge('x', 2), tenant])).allowed).toBe(false)
  expect((await limiter.take([charge('y', 2), tenant])).allowed).toBe(true)
  // The tenant has none: the token must not pay.
  expect((await limiter.take([charge('z', 1), tenant])).allowed).toBe(false)
  expect((await limiter.take([charge('z', 1)])).allowed).toBe(true)
})

test('says how much is left, and when it grows', async () => {
  const { clock, limiter } = limiterAt(10_000)
  await limiter.take([charge('a', 3)])
  clock.nowMs += 20_000
  const { policies } = await limiter.take([charge('a', 3), charge('t', 10, 'tenant')])
  expect(policies).toEqual([
    { policy: 'token', quota: 3, remaining: 1, resetSeconds: 40 },
    { policy: 'tenant', quota: 10, remaining: 9, resetSeconds: 60 },
  ])
})

test('a refund gives back one request, once its slot is there', async () => {
  const { clock, limiter } = limiterAt()
  const { takenAtMs } = await limiter.take([charge('a', 1, 'address')])
  expect((await limiter.take([charge('a', 1, 'address')])).allowed).toBe(false)
  await limiter.refund([charge('a', 1, 'address')], takenAtMs)
  await limiter.refund([charge('a', 1, 'address')], takenAtMs)
  expect((await limiter.take([charge('a', 1, 'address')])).allowed).toBe(true)
  expect((await limiter.take([charge('a', 1, 'address')])).allowed).toBe(false)
  clock.nowMs += 70_000
  await limiter.refund([charge('a', 1, 'address')], takenAtMs)
  expect((await limiter.take([charge('a', 1, 'address')])).policies[0]?.remaining).toBe(0)
})

test('a quota of nothing lets nothing through', async () => {
  const { limiter } = limiterAt()
  expect(await limiter.take([charge('a', 0)])).toMatchObject({ allowed: false, retryAfterSeconds: 60 })
})

test('forgets those who are gone, and never holds more addresses than it may', async () => {
  const { clock, limiter } = limiterAt()
  for (let each = 0; each < 1000; each++) await limiter.take([charge(`token ${each}`, 5)])
  for (let each = 0; each < 1000; each++) await limiter.take([charge(`address ${each}`, 5, 'address')])
  expect(limiter.size).toBeGreaterThanOrEqual(1050)
  expect(limiter.size).toBeLessThanOrEqual(1100)
  for (let minute = 0; minute < 2; minute++) {
    clock.nowMs += 61_000
    for (const policy of ['token', 'address'] as const) await limiter.take([charge('one', 5, policy)])
  }
  expect(limiter.size).toBeLessThanOrEqual(4)
})

describe('quotas', () => {
  test('are the interface’s, the tenant’s own where set, times the factor, and never rounded to nothing', () => {
    expect(quotasOf('hub-read', {}, 1)).toEqual({ perToken: 1000, perTenant: 10_000 })
    expect(quotasOf('hub-read', { 'hub-read': { perToken: 5, perTenant: 7 } }, 2)).toEqual({
      perToken: 10,
      perTenant: 14,
    })
    expect(quotasOf('hub-read', { 'hub-write': { perToken: 5, perTenant: 7 } }, 1).perToken).toBe(1000)
    expect(quotasOf('auth', {}, 0.001)).toEqual({ perToken: 1, perTenant: 1 })
  })

  test('are apart for each class, token, tenant and address; IPv6 neighbours count as one', () => {
    const quotas = { perToken: 1, perTenant: 1 }
    const keys = [
      ...authenticatedCharges('hub-read', { token: 'a', tenantSlug: 'a' }, quotas),
      ...authenticatedCharges('hub-write', { token: 'a', tenantSlug: 'a' }, quotas),
      ...anonymousCharges('auth', '10.0.0.1', 'a', 1),
      ...anonymousCharges('auth', '10.0.0.1', '', 1),
      ...anonymousCharges('auth', '2001:db8:0:1::1', '', 1),
      ...anonymousCharges('auth', '2001:db8::1:0:0:0:1', '', 1),
    ].map((each) => each.key)
    expect(new Set(keys).size).toBe(keys.length - 1)
    expect(keys.at(-1)).toBe(keys.at(-2))
  })
})
