import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FairQueue, type FairQueueRules } from '../../server/db/fair-queue.ts'

type Class = 'short' | 'long'

const waitMs = 5_000
const classRules = (all: number, ofTenant: number) => ({
  all,
  ofTenant,
  waitMs,
  rejection: () => new Error('too long'),
})

function queueOf(slots: number, ofTenant: number, long = classRules(slots, ofTenant)) {
  const rules: FairQueueRules<Class> = { slots, ofTenant, classes: { short: classRules(slots, ofTenant), long } }
  const queue = new FairQueue(rules)
  const granted: string[] = []
  const enter = (tenant: string, name: string, workClass: Class = 'short') => {
    const waiting = queue.enter(tenant, workClass)
    if (waiting === undefined) granted.push(name)
    else
      waiting.then(
        () => granted.push(name),
        (error: Error) => granted.push(`${name}: ${error.message}`),
      )
  }
  const leave = async (tenant: string, workClass: Class = 'short') => {
    queue.leave(tenant, workClass)
    await settle()
  }
  return { queue, granted, enter, leave }
}

const settle = async () => {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('turns', () => {
  test('one of each tenant in turn, however many a tenant has waiting', async () => {
    const { granted, enter, leave } = queueOf(1, 1)
    for (const name of ['a1', 'a2', 'a3', 'a4']) enter('a', name)
    enter('b', 'b1')
    enter('c', 'c1')
    enter('b', 'b2')
    expect(granted).toEqual(['a1'])
    for (const tenant of ['a', 'a', 'b', 'c', 'a', 'b']) await leave(tenant)
    expect(granted).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })

  test('the oldest first within a tenant, of those that may run', async () => {
    const { granted, enter, leave } = queueOf(2, 2, classRules(1, 1))
    enter('a', 'long1', 'long')
    enter('a', 'long2', 'long')
    enter('a', 'short1')
    enter('a', 'short2')
    expect(granted).toEqual(['long1', 'short1'])
    await leave('a')
    await leave('a', 'long')
    expect(granted).toEqual(['long1', 'short1', 'short2', 'long2'])
  })

  test('nothing overtakes those of its class and tenant that wait', async () => {
    const { granted, enter, leave } = queueOf(1, 1)
    for (const name of ['a1', 'a2', 'a3']) enter('a', name)
    await leave('a')
    enter('a', 'a4')
    await leave('a')
    await leave('a')
    expect(granted).toEqual(['a1', 'a2', 'a3', 'a4'])
  })
})

describe('caps', () => {
  test('a tenant leaves slots to the others', async () => {
    const { granted, enter } = queueOf(4, 3)
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) enter('a', name)
    enter('b', 'b1')
    expect(granted).toEqual(['a1', 'a2', 'a3', 'b1'])
  })

  test('a class has slots of one tenant, and of all', async () => {
    const { granted, enter, leave } = queueOf(8, 8, classRules(3, 2))
    for (const tenant of ['a', 'b']) for (const at of [1, 2, 3]) enter(tenant, `${tenant}${at}`, 'long')
    enter('a', 'short')
    expect(granted).toEqual(['a1', 'a2', 'b1', 'short'])
    await leave('a', 'long')
    expect(granted.at(-1)).toBe('a3')
    await leave('a', 'long')
    expect(granted.at(-1)).toBe('b2')
  })
})

describe('the longest wait', () => {
  test('is that of the class; then the one that waits is refused, and the others keep their places', async () => {
    const { queue, granted, enter, leave } = queueOf(1, 1)
    enter('a', 'a1')
    enter('b', 'b1')
    await vi.advanceTimersByTimeAsync(waitMs - 1)
    enter('b', 'b2')
    expect(granted).toEqual(['a1'])
    await vi.advanceTimersByTimeAsync(1)
    expect(granted).toEqual(['a1', 'b1: too long'])
    expect(queue.counts.short).toMatchObject({ waiting: 1, waited: 0, refused: 1 })
    await leave('a')
    expect(granted.at(-1)).toBe('b2')
    expect(queue.counts.short).toMatchObject({ waiting: 0, waited: 1, refused: 1 })
    expect(queue.counts.short.seconds).toBeCloseTo(5, 1)
    await leave('b')
    enter('c', 'c1')
    expect(granted.at(-1)).toBe('c1')
  })

  test('does not count for what has run', async () => {
    const { granted, enter, leave } = queueOf(1, 1)
    enter('a', 'a1')
    enter('a', 'a2')
    await leave('a')
    await vi.advanceTimersByTimeAsync(2 * waitMs)
    expect(granted).toEqual(['a1', 'a2'])
  })
})

test('whatever comes and goes: caps hold, and nothing waits that may run', async () => {
  const tenants = ['a', 'b', 'c']
  const steps = fc.array(
    fc.record({
      tenant: fc.constantFrom(...tenants),
      workClass: fc.constantFrom<Class[]>('short', 'long'),
      isLeaving: fc.boolean(),
    }),
    { maxLength: 60 },
  )
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 5 }), async (all, slots) => {
      const ofTenant = Math.max(1, slots - 1)
      const long = classRules(Math.max(1, slots - 2), 1)
      const queue = new FairQueue<Class>({ slots, ofTenant, classes: { short: classRules(slots, ofTenant), long } })
      const running: { tenant: string; workClass: Class }[] = []
      let entered = 0
      let left = 0
      const count = (by: Partial<{ tenant: string; workClass: Class }>) =>
        running.filter((each) => Object.entries(by).every(([name, value]) => each[name as 'tenant'] === value)).length
      for (const { tenant, workClass, isLeaving } of all) {
        const at = running.findIndex((each) => each.tenant === tenant && each.workClass === workClass)
        if (isLeaving && at >= 0) {
          running.splice(at, 1)
          left += 1
          queue.leave(tenant, workClass)
        } else if (!isLeaving) {
          entered += 1
          const waiting = queue.enter(tenant, workClass)
          const run = () => running.push({ tenant, workClass })
          if (waiting) void waiting.then(run)
          else run()
        }
        await settle()
        expect(running.length).toBeLessThanOrEqual(slots)
        expect(count({ workClass: 'long' })).toBeLessThanOrEqual(long.all)
        for (const each of tenants) {
          expect(count({ tenant: each })).toBeLessThanOrEqual(ofTenant)
          expect(count({ tenant: each, workClass: 'long' })).toBeLessThanOrEqual(1)
        }
        const { short, long: longs } = queue.counts
        expect(short.waiting + longs.waiting + running.length).toBe(entered - left)
        // Short ones have no cap of their own, so one waits only where its tenant or the whole has none left.
        if (short.waiting > 0) {
          expect(running.length === slots || tenants.some((each) => count({ tenant: each }) === ofTenant)).toBe(true)
        }
      }
    }),
  )
})
