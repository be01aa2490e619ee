import { randomUUID } from 'node:crypto'
import type { DatabaseLog, Listener } from '../../db/database.ts'
import { type ConcurrencyPool, ConcurrencyPools } from '../../delivery/concurrency-pools.ts'
import { LeasedDelivery, type TenantDelivery } from '../../delivery/leased-delivery.ts'
import { type LeasedTarget, TargetLeases } from '../../delivery/target-leases.ts'
import type { Tenant } from '../../http/caller.ts'
import { type Due, leaseTable } from './deliveries-store.ts'
import type { LeasedPublish, PublishExecutor } from './publish-executor.ts'

/**
 * Maximum time in milliseconds between polls of a tenant with push connectors, for missed notifications; less if one is
 * due sooner.
 */
const lookMsMax = 5_000
/** The same for a tenant without push connectors: another process may have added one, and its notification was lost. */
const idleLookMs = 20_000
/** Publishes that end within this time, in milliseconds, are followed by one poll. */
const gatherMs = 20
/** Number of tenants whose due times are read concurrently. */
const looksAtOnce = 4
/** Maximum number and bytes of manifests that one poll signs: signing takes CPU time, which all tenants share. */
const leasesAtOnce = 32
const leasedBytesAtOnce = 16 * 1024 * 1024
/** Limits that let a single tenant serve every connector; a publish stays in the quick pool for up to 5 seconds. */
const poolLimits = { own: 8, common: 512, tenantBytesMax: 64 * 1024 * 1024, quickMsMax: 5_000 }

/** Seconds of a lease. The leases of a crashed process end after this time. */
const leaseSeconds = 15

/** Creates the scheduler of publishes. */
export function createPublishScheduler(deps: {
  executor: Pick<PublishExecutor, 'lease' | 'publish' | 'release'>
  findTenant: (slug: string) => Promise<Tenant | undefined>
  listTenants: () => Promise<readonly string[]>
  /** Listens for changes by other processes. */
  listen: (wake: (tenantId: string) => void) => Listener
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs?: () => number
}): LeasedDelivery<TenantPublisher> {
  const { executor, log, nowMs = () => performance.now() } = deps
  const shared = { ...{ executor, log, nowMs }, pools: new ConcurrencyPools(poolLimits), processId: randomUUID() }
  return new LeasedDelivery({
    ...deps,
    make: (tenant, wake) => new TenantPublisher(tenant, { ...shared, wake }),
    messages: {
      unavailable: 'skills are not published while the database is unavailable',
      failed: 'the skills of a tenant could not be published',
      unlisted: 'the tenants could not be listed to publish their skills',
    },
    concurrency: looksAtOnce,
    // A look extends the leases, too, so a failed one is repeated before they end.
    retryMs: { first: 500, max: (leaseSeconds * 1000) / 4 },
  })
}

/** A publish to a connector that this process has leased. */
class RunningPublish implements LeasedTarget {
  readonly stop = new AbortController()
  leasedUntilMs = 0
  /** When the lease can be released; Infinity during the publish. */
  doneAtMs = Number.POSITIVE_INFINITY
  readonly #nowMs: () => number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  isDone(): boolean {
    return this.#nowMs() >= this.doneAtMs
  }
}

interface TenantPublisherDeps {
  executor: Pick<PublishExecutor, 'lease' | 'publish' | 'release'>
  pools: ConcurrencyPools
  processId: string
  wake: (inMs?: number) => void
  log: Pick<DatabaseLog, 'warn'>
  nowMs: () => number
}

/** Publishes to the connectors of one tenant. */
export class TenantPublisher implements TenantDelivery {
  readonly #tenant: Tenant
  readonly #deps: TenantPublisherDeps
  readonly #leases: TargetLeases<RunningPublish>
  readonly #running = new Set<Promise<void>>()
  /** Connectors whose last publish was slow. */
  readonly #slow = new Set<string>()
  /** The size of the manifest, if known. */
  #manifestBytes = 1024 * 1024

  constructor(tenant: Tenant, deps: TenantPublisherDeps) {
    this.#tenant = tenant
    this.#deps = deps
    this.#leases = new TargetLeases(leaseTable, deps.processId, leaseSeconds)
  }

  async look(): Promise<number> {
    const { executor, nowMs } = this.#deps
    let isMore = false
    const { due, changes, publishes } = await executor.lease(this.#tenant, this.#leases, nowMs(), (ready) => {
      const able = this.#withRoom(ready)
      isMore = able.length > this.#leasesMax
      return able.slice(0, this.#leasesMax).map(({ connector_id }) => connector_id)
    })
    const byId = new Map(publishes.map((publish) => [publish.claim.connector_id, publish]))
    this.#leases.apply(
      changes,
      (id) => (byId.has(id) ? new RunningPublish(nowMs) : undefined),
      (id, run) => (run.isDone() ? this.#leases.held.delete(id) : run.stop.abort()),
    )
    for (const publish of publishes) this.#begin(publish)
    const present = new Set(due.map(({ connector_id }) => connector_id))
    for (const connectorId of this.#slow) if (!present.has(connectorId)) this.#slow.delete(connectorId)
    if (due.length === 0) return idleLookMs
    if (isMore || changes.released.size > 0) return 1
    const nextMs = due.find(({ wait_ms }) => wait_ms > 0)?.wait_ms ?? lookMsMax
    return Math.min(nextMs + 1, changes.nextMs, lookMsMax)
  }

  /** Aborts a running publish to a connector. */
  breakOff(connectorId: string): void {
    this.#leases.held.get(connectorId)?.stop.abort()
  }

  async stop(): Promise<void> {
    for (const { stop } of this.#leases.held.values()) stop.abort()
    await Promise.all(this.#running)
    const ids = [...this.#leases.held.keys()]
    this.#leases.held.clear()
    if (ids.length > 0) await this.#deps.executor.release(this.#tenant, this.#leases, ids)
  }

  get #leasesMax(): number {
    return Math.max(1, Math.min(leasesAtOnce, Math.floor(leasedBytesAtOnce / this.#manifestBytes)))
  }

  /** Returns the connectors that have free slots, longest overdue first. The others follow as soon as one is free. */
  #withRoom(ready: readonly Due[]): Due[] {
    const roomOf = (pool: ConcurrencyPool) => this.#deps.pools.room(pool, this.#tenant.slug, this.#manifestBytes)
    const room = { quick: roomOf('quick'), slow: roomOf('slow') }
    return ready.filter((each) => {
      const pool = this.#poolOf(each)
      room[pool] -= 1
      return room[pool] >= 0
    })
  }

  #poolOf({ connector_id, failures }: Pick<Due, 'connector_id' | 'failures'>): ConcurrencyPool {
    return failures > 0 || this.#slow.has(connector_id) ? 'slow' : 'quick'
  }

  #begin(publish: LeasedPublish): void {
    const { prepared, claim } = publish
    if ('text' in prepared) this.#manifestBytes = Math.max(1, prepared.text.length)
    const run = this.#leases.held.get(claim.connector_id) as RunningPublish
    const running = this.#run(publish, run).finally(() => {
      this.#running.delete(running)
      this.#deps.wake(gatherMs)
    })
    this.#running.add(running)
  }

  async #run(publish: LeasedPublish, run: RunningPublish): Promise<void> {
    const { executor, pools, log, nowMs } = this.#deps
    const { connector_id: connectorId } = publish.claim
    let isSlow = false
    const late = () => {
      isSlow = true
      this.#slow.add(connectorId)
    }
    const { slug: tenantId } = this.#tenant
    const call = { pool: this.#poolOf(publish.claim), tenantId, bytes: this.#manifestBytes, stop: run.stop, late }
    try {
      const isEnded = await pools.run(call, () => executor.publish(this.#tenant, publish, run.stop.signal))
      if (isEnded) this.#leases.held.delete(connectorId)
      else run.doneAtMs = nowMs()
    } catch (error) {
      // The next publish waits until the lease would have ended.
      run.doneAtMs = run.leasedUntilMs
      log.warn({ err: error, tenant: tenantId }, 'could not store the result of a publish')
    }
    if (!isSlow) this.#slow.delete(connectorId)
  }
}
