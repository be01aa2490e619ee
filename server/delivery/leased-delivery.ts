import type { Tenant } from '../http/caller.ts'
import { TenantLoop, type TenantLoopOptions } from '../jobs/tenant-loop.ts'

const stopMsMax = 5_000

/** Delivers to the targets of one tenant that this process has leased. */
export interface TenantDelivery {
  /** Leases targets with due work, starts attempts, and returns the milliseconds until the next look. */
  look(): Promise<number>
  /** Aborts running attempts, saves known outcomes and releases every lease. */
  stop(): Promise<void>
}

/**
 * Delivers in the background: messages to endpoints, skills to connectors. Several processes may run it: each target is
 * leased by one of them, which alone sends to it.
 *
 * - **When.** A tenant is looked at when it is woken, when its last look asked for it, and every few seconds.
 * - **Leases.** {@link TargetLeases} leases targets, extends leases while there is work, and releases them. The leases
 *   of a process that died end, and others take over: every delivery happens at least once.
 * - **Bounds.** {@link ConcurrencyPools} limits concurrent attempts, fairly between tenants.
 * - **Stop.** Aborts running attempts and releases every lease, so that another process continues at once. The same
 *   happens for a tenant that is suspended or removed.
 */
export class LeasedDelivery<Delivery extends TenantDelivery> {
  readonly #options: LeasedDeliveryOptions<Delivery>
  readonly #tenants = new Map<string, Delivery>()
  readonly #loop: TenantLoop

  constructor(options: LeasedDeliveryOptions<Delivery>) {
    this.#options = options
    this.#loop = new TenantLoop({ ...options, visit: (tenantId) => this.#look(tenantId) })
  }

  /** Schedules a look at a tenant, at once or in `inMs` milliseconds. */
  wake(tenantId: string, inMs?: number): void {
    this.#loop.wake(tenantId, inMs)
  }

  /** Returns the deliveries of a tenant, if it was looked at. */
  of(tenantId: string): Delivery | undefined {
    return this.#tenants.get(tenantId)
  }

  start(): void {
    this.#loop.start()
  }

  /** Stops within a few seconds. Leases that cannot be released end by themselves. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    const stopping = [...this.#tenants.values()].map((each) => this.#stop(each))
    this.#tenants.clear()
    await Promise.all(stopping)
  }

  async #look(tenantId: string): Promise<number | undefined> {
    const { findTenant, make } = this.#options
    const tenant = await findTenant(tenantId)
    if (tenant) {
      return this.#tenants.getOrInsertComputed(tenantId, () => make(tenant, (inMs) => this.wake(tenantId, inMs))).look()
    }
    const delivery = this.#tenants.get(tenantId)
    this.#tenants.delete(tenantId)
    // The stop of the loop waits for this look, so the leases are released before the database closes.
    if (delivery) await this.#stop(delivery)
    return undefined
  }

  async #stop(delivery: Delivery): Promise<void> {
    const stopped = delivery.stop().catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'could not end deliveries; they are repeated later')
    })
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, stopMsMax)
    await Promise.race([stopped, late.promise]).finally(() => clearTimeout(timer))
  }
}

export interface LeasedDeliveryOptions<Delivery> extends Omit<TenantLoopOptions, 'visit'> {
  /**
   * Creates the deliveries of a tenant.
   *
   * @param wake schedules a look, at once or in this many milliseconds
   */
  make: (tenant: Tenant, wake: (inMs?: number) => void) => Delivery
  findTenant: (slug: string) => Promise<Tenant | undefined>
}
