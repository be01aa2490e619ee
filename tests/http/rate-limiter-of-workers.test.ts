import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { type LimiterRequest, respondToWorker, WorkerLimiter } from '../../server/cluster/ipc-rate-limiter.ts'
import { type Charge, MemoryRateLimiter } from '../../server/http/rate-limits/rate-limiter.ts'

const token = (key: string, quota: number): Charge => ({ policy: 'token', key, quota })
const tenant = (key: string, quota: number): Charge => ({ policy: 'tenant', key, quota })
const log = { info: vi.fn(), warn: vi.fn() }

/** Workers and the limiter of their primary, with a channel that can be held up. */
function cluster(workers: number, patienceMs = 40) {
  const limiter = new MemoryRateLimiter()
  const channel = { held: false, requests: [] as LimiterRequest[] }
  const backlog: (() => Promise<void>)[] = []
  const all = Array.from({ length: workers }, (): WorkerLimiter => {
    const worker: WorkerLimiter = new WorkerLimiter({
      workers,
      patienceMs,
      log,
      send: (request) => {
        channel.requests.push(request)
        // As on the way between processes.
        const copy = JSON.parse(JSON.stringify(request)) as LimiterRequest
        const deliver = async () => {
          const answer = JSON.parse(JSON.stringify(await respondToWorker(limiter, copy)))
          setImmediate(() => worker.answer(answer))
        }
        if (channel.held) backlog.push(deliver)
        else void deliver()
      },
    })
    return worker
  })
  const release = async () => {
    channel.held = false
    for (const deliver of backlog.splice(0)) await deliver()
  }
  return { workers: all, limiter, channel, release }
}

describe('while the primary answers', () => {
  test('no more than the quota passes, whoever is asked, and what is refused is charged to nobody', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.tuple(fc.nat(3), fc.constantFrom('a', 'b')), { minLength: 1, maxLength: 80 }),
        async (count, perToken, perTenant, asked) => {
          const { workers } = cluster(count)
          const decisions = await Promise.all(
            asked.map(async ([worker, name]) => ({
              name,
              ...(await workers[worker % count]!.take([token(name, perToken), tenant('t', perTenant)])),
            })),
          )
          const passed = (name: string) => decisions.filter((each) => each.allowed && each.name === name).length
          const wanted = (name: string) => Math.min(asked.filter(([, each]) => each === name).length, perToken)
          expect(passed('a')).toBeLessThanOrEqual(perToken)
          expect(passed('b')).toBeLessThanOrEqual(perToken)
          // All that the limits have room for, to the last request.
          expect(passed('a') + passed('b')).toBe(Math.min(wanted('a') + wanted('b'), perTenant))
        },
      ),
      { numRuns: 60, seed: 7 },
    )
  })

  test('the answer is the one of a limiter of one process', async () => {
    const { workers } = cluster(2)
    const charges = [token('a', 3), tenant('t', 10)]
    const decision = await workers[0]!.take(charges)
    expect(decision).toEqual({
      allowed: true,
      retryAfterSeconds: 0,
      takenAtMs: expect.any(Number),
      policies: [
        { policy: 'token', quota: 3, remaining: 2, resetSeconds: 60 },
        { policy: 'tenant', quota: 10, remaining: 9, resetSeconds: 60 },
      ],
    })
    await workers[1]!.take(charges)
    await workers[0]!.take(charges)
    const refused = await workers[1]!.take(charges)
    expect(refused).toMatchObject({ allowed: false, retryAfterSeconds: 60 })
    expect(refused.policies.map((each) => each.remaining)).toEqual([0, 7])
  })

  test('everything of one turn of the event loop travels together', async () => {
    const { workers, channel } = cluster(1)
    await Promise.all(Array.from({ length: 500 }, () => workers[0]!.take([token('a', 1000)])))
    expect(channel.requests.map((request) => request.takes.length)).toEqual([500])
  })

  test('a refund by the worker that took gives room to another', async () => {
    const { workers } = cluster(2)
    const charges = [token('a', 1)]
    const { takenAtMs } = await workers[0]!.take(charges)
    expect((await workers[1]!.take([token('a', 1)])).allowed).toBe(false)
    await workers[0]!.refund(charges, takenAtMs)
    expect((await workers[0]!.take([token('b', 1)])).allowed).toBe(true)
    expect((await workers[1]!.take([token('a', 1)])).allowed).toBe(true)
  })
})

describe('while it does not', () => {
  test('each worker allows its share, never nothing and never more; it says so once; then limits are exact again', async () => {
    const { workers, channel, release } = cluster(2)
    log.warn.mockClear()
    log.info.mockClear()
    channel.held = true
    const passed = async (key: string, quota: number, times: number) => {
      const decisions = await Promise.all(
        Array.from({ length: times }, () => workers[0]!.take([token(key, quota), tenant('t', 1000)])),
      )
      return decisions.filter((each) => each.allowed).length
    }
    expect(await passed('a', 10, 20)).toBe(5)
    expect(await passed('one', 1, 5)).toBe(1)
    // Later requests do not wait for an answer that is overdue: no timer is set, and nothing more is sent.
    const setTimer = vi.spyOn(globalThis, 'setTimeout')
    const sent = channel.requests.length
    expect(await passed('a', 10, 20)).toBe(0)
    expect([setTimer.mock.calls, channel.requests.length]).toEqual([[], sent])
    setTimer.mockRestore()
    expect(log.warn).toHaveBeenCalledTimes(1)
    expect(log.info).not.toHaveBeenCalled()

    await release()
    await expect.poll(() => log.info.mock.calls.length).toBe(1)
    // What was asked for before counts: 20 requests used up the quota of ten.
    expect((await workers[1]!.take([token('a', 10)])).allowed).toBe(false)
    expect((await workers[0]!.take([token('c', 1)])).allowed).toBe(true)
    expect((await workers[1]!.take([token('c', 1)])).allowed).toBe(false)
  })

  test('a refund goes where the request was counted', async () => {
    const { workers, channel, release } = cluster(2)
    channel.held = true
    const charges = [token('a', 2)]
    const { takenAtMs } = await workers[0]!.take(charges)
    expect((await workers[0]!.take([token('a', 2)])).allowed).toBe(false)
    await workers[0]!.refund(charges, takenAtMs)
    expect((await workers[0]!.take([token('a', 2)])).allowed).toBe(true)
    await release()
  })

  test('an answer that is there when a busy worker looks up is not too late', async () => {
    const { workers } = cluster(1, 20)
    log.warn.mockClear()
    const decision = workers[0]!.take([token('a', 4)])
    await new Promise((resolve) => setImmediate(resolve))
    const until = performance.now() + 60
    while (performance.now() < until);
    expect((await decision).policies[0]?.quota).toBe(4)
    expect(log.warn).not.toHaveBeenCalled()
  })
})
