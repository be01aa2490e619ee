import type { DatabaseLog, Listener } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { TenantLoop } from '../../jobs/tenant-loop.ts'

/** Milliseconds for which arrivals are gathered after the first one, to integrate them together. */
const gatherMs = 150
/**
 * Milliseconds between, and duration of, frequent checks of a tenant after a list found arrivals, because notifications
 * seem to be missing.
 */
const watchEveryMs = 400
const watchMs = 60_000

interface IntegratorDeps {
  logs: { integrate(tenant: Tenant): Promise<{ treeSize: number }>; hasArrivals(tenantId: string): Promise<boolean> }
  findTenant: (slug: string) => Promise<Tenant | undefined>
  listTenants: () => Promise<readonly string[]>
  /** Subscribes to arrivals that other processes stored. */
  hear: (heard: (tenantId: string) => void) => Listener
  log: Pick<DatabaseLog, 'warn' | 'error'>
}

/**
 * Integrates seals into the logs in the background. Several processes may do so: they serialize per tenant, and the
 * later one finds nothing left.
 */
export class Integrator {
  readonly #deps: IntegratorDeps
  readonly #loop: TenantLoop
  /** Tenants to check frequently, with the size of the log at the last check. */
  readonly #watched = new Map<string, { untilMs: number; treeSize?: number | undefined }>()

  constructor(deps: IntegratorDeps) {
    this.#deps = deps
    this.#loop = new TenantLoop({
      visit: (tenantId) => this.#integrate(tenantId),
      listTenants: (stopped) => this.#tenantsWithArrivals(stopped),
      listen: () => deps.hear((tenantId) => this.sealed(tenantId)),
      // One tenant with a backlog does not delay the others.
      concurrency: 4,
      retryMs: { first: 500, max: 60_000 },
      log: deps.log,
      messages: {
        unavailable: 'seals are not added to the logs while the database is unavailable',
        failed: 'could not add the seals of a tenant to its log',
        unlisted: 'could not look for seals that are not in their log yet',
      },
    })
  }

  /** Must be called after a commit that stored seals. */
  sealed(tenantId: string): void {
    this.#loop.wake(tenantId, gatherMs)
  }

  start(): void {
    this.#loop.start()
  }

  /** Stops, and waits for running transactions. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    this.#watched.clear()
  }

  async #integrate(tenantId: string): Promise<number | undefined> {
    const tenant = await this.#deps.findTenant(tenantId)
    const treeSize = tenant && (await this.#deps.logs.integrate(tenant)).treeSize
    const watch = this.#watched.get(tenantId)
    if (!watch || performance.now() >= watch.untilMs) {
      this.#watched.delete(tenantId)
      return undefined
    }
    if (treeSize !== watch.treeSize) watch.untilMs = performance.now() + watchMs
    watch.treeSize = treeSize
    return watchEveryMs
  }

  /** Names the tenants with arrivals that another process or a crash has left. */
  async *#tenantsWithArrivals(stopped: AbortSignal): AsyncGenerator<string> {
    for (const tenantId of await this.#deps.listTenants()) {
      if (stopped.aborted) return
      if (this.#loop.has(tenantId) || !(await this.#deps.logs.hasArrivals(tenantId))) continue
      this.#watched.set(tenantId, { untilMs: performance.now() + watchMs })
      yield tenantId
    }
  }
}
