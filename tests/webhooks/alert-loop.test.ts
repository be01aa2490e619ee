import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import { createAlertLoop } from '../../server/modules/webhooks/alerts/alert-evaluator.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Tenants, and how a look at each goes; looks are kept with the second that they began in. */
function openLoop(tenants: string[], evaluate: (tenantId: string) => Promise<boolean> = async () => true) {
  const looks: [string, number][] = []
  const forgotten: string[] = []
  const logged: string[] = []
  const beganMs = Date.now()
  const loop = createAlertLoop({
    evaluator: {
      async evaluate({ slug }) {
        looks.push([slug, Math.round((Date.now() - beganMs) / 1000)])
        return evaluate(slug)
      },
      forget: (tenantId) => void forgotten.push(tenantId),
    },
    findTenant: async (slug) => (tenants.includes(slug) ? ({ slug } as Tenant) : undefined),
    listTenants: async () => [...tenants],
    log: { warn: (_, message) => logged.push(message), error: (_, message) => logged.push(message) },
    nowMs: () => Date.now(),
  })
  const timesOf = (tenantId: string) => looks.filter(([looked]) => looked === tenantId).map(([, second]) => second)
  return {
    loop,
    tenants,
    forgotten,
    looks,
    logged,
    timesOf,
    pass: (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000),
  }
}

test('a tenant with rules is looked at every ten seconds, and one without every thirty', async () => {
  const { loop, timesOf, pass } = openLoop(['acme', 'globex'], async (tenantId) => tenantId === 'acme')
  loop.start()
  await pass(65)
  expect(timesOf('acme')).toEqual([0, 10, 20, 30, 40, 50, 60])
  expect(timesOf('globex')).toEqual([0, 30, 60])
  await loop.stop()
})

test('a tenant whose endpoints were changed is looked at soon, also one that was not known yet', async () => {
  const { loop, tenants, timesOf, pass } = openLoop(['acme'], async () => false)
  loop.start()
  await pass(5)
  tenants.push('new')
  loop.wake('acme')
  loop.wake('new')
  await pass(1)
  expect([timesOf('acme'), timesOf('new')]).toEqual([[0, 5], [5]])
  await loop.stop()
})

const taking = (ms: number) => () => new Promise<boolean>((resolve) => setTimeout(resolve, ms, true))

test('what is changed during a look is looked at again soon after it', async () => {
  const { loop, timesOf, pass } = openLoop(['acme'], taking(100))
  loop.start()
  await pass(0.05)
  loop.wake('acme')
  await pass(0.5)
  expect(timesOf('acme')).toEqual([0])
  await pass(1)
  expect(timesOf('acme')).toEqual([0, 1])
  await loop.stop()
})

test('however often a tenant is changed, it rests after its looks', async () => {
  const { loop, timesOf, pass } = openLoop(['acme'], taking(1000))
  loop.start()
  for (let times = 0; times < 240; times += 1) {
    loop.wake('acme')
    await pass(0.25)
  }
  expect(timesOf('acme')).toEqual([0, 11, 22, 33, 44, 55])
  const stopping = loop.stop()
  await pass(1)
  await stopping
})

test('one slow tenant keeps no other waiting, and is looked at less often', async () => {
  const slow = () => new Promise<boolean>((resolve) => setTimeout(resolve, 5000, true))
  const { loop, timesOf, pass } = openLoop(['slow', 'b', 'c'], (tenantId) =>
    tenantId === 'slow' ? slow() : Promise.resolve(true),
  )
  loop.start()
  await pass(60)
  expect(timesOf('slow')).toEqual([0, 55])
  for (const tenant of ['b', 'c']) expect(timesOf(tenant)).toEqual([0, 10, 20, 30, 40, 50])
  const stopping = loop.stop()
  await pass(5)
  await stopping
})

test('a tenant that fails is tried again later and later, and said to have failed', async () => {
  const { loop, logged, timesOf, pass } = openLoop(['acme', 'globex'], async (tenantId) => {
    if (tenantId === 'acme') throw new Error('broken')
    return true
  })
  loop.start()
  await pass(40)
  expect(timesOf('acme')).toEqual([0, 1, 2, 4, 8, 16, 31])
  expect(timesOf('globex')).toEqual([0, 10, 20, 30])
  expect(new Set(logged)).toEqual(new Set(['could not evaluate the alerts of a tenant']))
  await loop.stop()
})

test('tenants come and go', async () => {
  const { loop, tenants, forgotten, timesOf, pass } = openLoop(['acme'])
  loop.start()
  await pass(5)
  tenants.splice(0, 1, 'new')
  await pass(60)
  expect(timesOf('acme')).toEqual([0])
  expect(timesOf('new')[0]).toBeLessThanOrEqual(32)
  expect(forgotten).toEqual(['acme'])
  await loop.stop()
})

test('to stop waits for looks that are under way, and nothing begins after it', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const { loop, looks, pass } = openLoop(['a', 'b', 'c'], () => promise)
  loop.start()
  await pass(2)
  let stopped = false
  const stopping = loop.stop().then(() => {
    stopped = true
  })
  await pass(10)
  expect(stopped).toBe(false)
  resolve(true)
  await stopping
  await pass(60)
  expect(looks).toHaveLength(2)
})
