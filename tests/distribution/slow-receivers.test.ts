import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import type { LeasedPublish, PublishExecutor } from '../../server/modules/distribution/publish-executor.ts'
import { createPublishScheduler } from '../../server/modules/distribution/publish-scheduler.ts'

const periodMs = 25_000
const leaseMs = 15_000

interface FakeConnector {
  id: string
  tenant: string
  /** How long its receiver takes for a publish, which succeeds. */
  tookMs: number
  dueAtMs: number
  leased: boolean
  /** When publishes ended well. */
  published: number[]
}

let connectors: FakeConnector[]
let publisher: ReturnType<typeof createPublishScheduler>
beforeEach(() => {
  vi.useFakeTimers()
  connectors = []
  publisher = createPublishScheduler({
    executor: fakeExecutor(),
    findTenant: async (slug) => ({ slug }) as Tenant,
    listTenants: async () => [...new Set(connectors.map(({ tenant }) => tenant))],
    listen: () => ({ close: () => {} }) as never,
    log: { warn: () => {}, error: (details) => expect(details).toBeUndefined() },
    nowMs: () => Date.now(),
  })
})
afterEach(async () => {
  await publisher.stop()
  vi.useRealTimers()
})

/** Leases as the real one does: the next time counts from the lease on. */
function fakeExecutor(): Pick<PublishExecutor, 'lease' | 'publish' | 'release'> {
  const ofTenant = ({ slug }: Tenant) => connectors.filter(({ tenant }) => tenant === slug)
  return {
    async lease(tenant, leases, nowMs, choose) {
      const due = ofTenant(tenant).map(({ id, dueAtMs, leased }) => ({
        ...{ connector_id: id, failures: 0, claimed_by: leased ? 'this process' : null, claim_ms: null },
        wait_ms: (leased ? nowMs + leaseMs : dueAtMs) - Date.now(),
      }))
      due.sort((a, b) => a.wait_ms - b.wait_ms)
      const chosen = new Set(choose(due.filter(({ wait_ms }) => wait_ms <= 0)))
      const released = new Set([...leases.held].filter(([, run]) => run.isDone(false)).map(([id]) => id))
      for (const each of ofTenant(tenant)) {
        if (released.has(each.id)) each.leased = false
        if (chosen.has(each.id)) each.leased = true
      }
      const changes = {
        leased: chosen,
        lost: new Set<string>(),
        released,
        leasedUntilMs: nowMs + leaseMs,
        nextMs: leaseMs / 3,
      }
      const publishes = [...chosen].map(
        (id) => ({ claim: { connector_id: id, failures: 0 }, prepared: { text: '{}' } }) as LeasedPublish,
      )
      return { due, changes, publishes }
    },
    async publish(_tenant, { claim }, stop) {
      const connector = connectors.find(({ id }) => id === claim.connector_id)!
      const startMs = Date.now()
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, connector.tookMs)
        stop.addEventListener('abort', () => {
          clearTimeout(timer)
          resolve()
        })
      })
      if (stop.aborted) return false
      connector.published.push(Date.now())
      Object.assign(connector, { leased: false, dueAtMs: startMs + periodMs })
      return true
    },
    release: async () => {},
  }
}

function connect(tenant: string, tookMs: number, count = 1): FakeConnector[] {
  const dueAtMs = Date.now()
  const made = Array.from({ length: count }, (_, at) => {
    const id = `${tenant}-${tookMs}-${at}`
    return { id, tenant, tookMs, dueAtMs, leased: false, published: [] }
  })
  connectors.push(...made)
  publisher.wake(tenant)
  return made
}

test.each([
  [2, 90_000],
  [2, 19_000],
  [12, 119_000],
  [12, 4_900],
  [40, 119_000],
])('%i tenants with 100 receivers each that take %i ms and succeed keep nobody waiting', async (count, tookMs) => {
  publisher.start()
  for (let at = 0; at < count; at += 1) connect(`greedy-${at}`, tookMs, 100)
  await vi.advanceTimersByTimeAsync(12_000)
  const beganMs = Date.now()
  const quick = connect('quick', 50, 5)
  const slow = connect('slow', 9_000, 2)
  const endMs = beganMs + 200_000
  await vi.advanceTimersByTimeAsync(200_000)
  for (const { published, tookMs: own } of [...quick, ...slow]) {
    const moments = [beganMs, ...published, endMs]
    const gaps = moments.slice(1).map((at, index) => at - moments[index]!)
    // The first publish of a slow receiver may be begun twice.
    expect(Math.max(...gaps)).toBeLessThan(30_000 + own)
  }
})

test('a receiver that is quick again is among the quick again', async () => {
  publisher.start()
  const [only] = connect('acme', 9_000)
  await vi.advanceTimersByTimeAsync(40_000)
  expect(only!.published).toHaveLength(2)
  only!.tookMs = 50
  await vi.advanceTimersByTimeAsync(60_000)
  expect(only!.published.length).toBeGreaterThanOrEqual(4)
})
