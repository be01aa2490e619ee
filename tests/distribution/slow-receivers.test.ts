import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import type { ClaimedPublish, PublishExecutor } from '../../server/modules/distribution/publish-executor.ts'
import { createPublishScheduler, type PublishScheduler } from '../../server/modules/distribution/publish-scheduler.ts'

const periodMs = 25_000

interface FakeConnector {
  id: string
  tenant: string
  /** How long its receiver takes for a publish, which succeeds. */
  tookMs: number
  dueAtMs: number
  claimed: boolean
  /** When publishes ended well. */
  published: number[]
}

let connectors: FakeConnector[]
let publisher: PublishScheduler
beforeEach(() => {
  vi.useFakeTimers()
  connectors = []
  publisher = createPublishScheduler({
    deliverer: fakeDeliverer(),
    findTenant: async (slug) => ({ slug }) as Tenant,
    listTenants: async () => [...new Set(connectors.map(({ tenant }) => tenant))],
    hear: () => ({ close: () => {} }) as never,
    log: { warn: () => {}, error: (details) => expect(details).toBeUndefined() },
    nowMs: () => Date.now(),
  })
})
afterEach(async () => {
  await publisher.stop()
  vi.useRealTimers()
})

/** Claims as the real one does: the next time is set from the claim on. */
function fakeDeliverer(): PublishExecutor {
  const ofTenant = ({ slug }: Tenant) => connectors.filter(({ tenant }) => tenant === slug)
  return {
    async due(tenant) {
      const due = ofTenant(tenant).filter(({ claimed }) => !claimed)
      const waits = due.map(({ id, dueAtMs }) => ({ connector_id: id, failures: 0, wait_ms: dueAtMs - Date.now() }))
      return waits.sort((a, b) => a.wait_ms - b.wait_ms)
    },
    async claim(tenant, ids) {
      const claimed = ofTenant(tenant).filter(({ id, claimed }) => ids.includes(id) && !claimed)
      for (const each of claimed) Object.assign(each, { claimed: true, dueAtMs: Date.now() + periodMs })
      return claimed.map(
        ({ id }) => ({ claim: { connector_id: id, failures: 0 }, prepared: { text: '{}' } }) as ClaimedPublish,
      )
    },
    async deliver(_tenant, { claim }, stop) {
      const connector = connectors.find(({ id }) => id === claim.connector_id)!
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, connector.tookMs)
        stop.addEventListener('abort', () => {
          clearTimeout(timer)
          resolve()
        })
      })
      if (stop.aborted) connector.dueAtMs = Date.now()
      else connector.published.push(Date.now())
      connector.claimed = false
    },
  }
}

function connect(tenant: string, tookMs: number, count = 1): FakeConnector[] {
  const dueAtMs = Date.now()
  const made = Array.from({ length: count }, (_, at) => {
    const id = `${tenant}-${tookMs}-${at}`
    return { id, tenant, tookMs, dueAtMs, claimed: false, published: [] }
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
