import { randomUUID } from 'node:crypto'
import { isUnavailable } from '../../../../contract/domain-error.ts'
import type { Listener } from '../../../db/database.ts'
import { ConcurrencyPools, FairShare } from '../../../delivery/concurrency-pools.ts'
import { LeasedDelivery } from '../../../delivery/leased-delivery.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'
import type { DeliveryMetrics, WebhookSignal } from '../webhooks-types.ts'
import type { EndpointDispatcherDeps } from './endpoint-dispatcher.ts'
import type { Outcome } from './outcome-store.ts'
import { BacklogLimit, Relay } from './relay.ts'
import { TenantDispatcher } from './tenant-dispatcher.ts'

/** Maximum number of tenants whose endpoints are looked at concurrently. */
const looksAtOnce = 8
const poolSizes = { own: 32, common: 1024, tenantBytesMax: 64 * 1024 * 1024 }
const readBytes = { own: 256 * 1024, common: 64 * 1024 * 1024 }
const relayRetryMs = 5_000
/** Maximum milliseconds that due deliveries wait for the relay. */
const relayWaitMs = 100

export interface WebhookDispatcherDeps extends Pick<ModuleParts, 'database' | 'log'> {
  endpoints: Pick<Endpoints, 'all' | 'secretsOf' | 'disable' | 'overflowed'>
  findTenant: (slug: string) => Promise<Tenant | undefined>
  listTenants: () => Promise<readonly string[]>
  /** The client with the time that a receiver has for the head of its response. */
  outbound: Pick<Outbound, 'post'>
  /** Listens for messages that other processes queued. */
  hear: (heard: (tenantId: string, word?: WebhookSignal) => void) => Listener
  /** The clock for the ids of deliveries. */
  clock: Pick<RecordClock, 'next'>
}

/** Options for tests, which shorten the times. */
export interface WebhookDispatcherOptions
  extends Partial<Pick<EndpointDispatcherDeps, 'paceMsMax' | 'leftAloneMsMax'>> {
  /**
   * Maximum milliseconds that an attempt keeps a slot of the quick pool; without a slot in the slow pool it is aborted.
   */
  quickMsMax?: number
  /** Maximum number of deliveries that wait for an endpoint. */
  openMax?: number
}

/** Relays the outbox and delivers messages in the background, with {@link LeasedDelivery}. */
export class WebhookDispatcher {
  readonly #deps: WebhookDispatcherDeps
  readonly #delivery: LeasedDelivery<TenantDispatcher>
  readonly #relay: Relay
  readonly #backlog: BacklogLimit
  readonly #ages = new QueueAge(() => performance.now())
  readonly #relaying = new Map<string, Promise<void>>()
  #isStopped = true
  #metrics: DeliveryMetrics | undefined

  constructor(deps: WebhookDispatcherDeps, options: WebhookDispatcherOptions = {}) {
    this.#deps = deps
    this.#relay = new Relay(deps)
    this.#backlog = new BacklogLimit(deps, options.openMax)
    const { paceMsMax = 500, leftAloneMsMax = 60_000, quickMsMax = 2_000 } = options
    const shared = {
      ...{ ...deps, paceMsMax, leftAloneMsMax },
      pools: new ConcurrencyPools({ ...poolSizes, quickMsMax }),
      budget: new FairShare(readBytes),
      processId: randomUUID(),
      nowMs: () => performance.now(),
      saved: (outcomes: readonly Outcome[]) => this.#count(outcomes),
    }
    this.#delivery = new LeasedDelivery({
      ...deps,
      make: (tenant, wake) => {
        const { slug } = tenant
        return new TenantDispatcher(tenant, {
          ...{ ...shared, wake },
          relay: () => this.#relaySome(slug),
          looked: (dueMs) => this.#ages.seen('due', slug, dueMs),
          ended: () => this.#ages.forget(slug),
        })
      },
      listen: () => deps.hear((...signal) => this.wake(...signal)),
      messages: {
        unavailable: 'messages are not delivered while the database is unavailable',
        failed: 'the messages of a tenant could not be delivered',
        unlisted: 'the tenants could not be listed to deliver their messages',
      },
      concurrency: looksAtOnce,
    })
  }

  /** Handles a signal. After an erasure nothing is sent as it was read before. */
  wake(tenantId: string, word?: WebhookSignal): void {
    if (word === 'erased') this.#delivery.of(tenantId)?.readAgain()
    this.#delivery.wake(tenantId)
  }

  /** Stops sending to an endpoint that was removed, disabled or moved, and aborts running attempts there. */
  breakOff(tenantId: string, webhookId: string): void {
    this.#delivery.of(tenantId)?.breakOff(webhookId)
  }

  start(metrics?: DeliveryMetrics): void {
    this.#isStopped = false
    this.#metrics = metrics
    metrics?.showWebhookWaits(() => this.#ages.longest())
    this.#delivery.start()
  }

  /** Aborts running attempts, which are repeated later, and releases every lease. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#delivery.stop()
    await Promise.all(this.#relaying.values())
  }

  /**
   * Relays the first part at once, but waits only briefly, because another process may hold the lock. The rest runs
   * beside the delivery.
   */
  async #relaySome(tenantId: string): Promise<void> {
    if (this.#relaying.has(tenantId)) return
    const first = Promise.withResolvers<void>()
    let isBeside = false
    const all = this.#relayAll(tenantId, () => {
      first.resolve()
      if (isBeside) this.#delivery.wake(tenantId)
    })
      .catch((error: unknown) => {
        const details = { err: error, tenant: tenantId }
        if (isUnavailable(error)) this.#deps.log.warn(details, 'messages wait while the database is unavailable')
        else this.#deps.log.error(details, 'could not create deliveries from queued messages')
        this.#delivery.wake(tenantId, relayRetryMs)
      })
      .finally(() => {
        first.resolve()
        this.#relaying.delete(tenantId)
      })
    this.#relaying.set(tenantId, all)
    const timer = setTimeout(first.resolve, relayWaitMs)
    await first.promise
    clearTimeout(timer)
    isBeside = true
  }

  async #relayAll(tenantId: string, partIsDone: () => void): Promise<void> {
    for (let isMore = true; isMore && !this.#isStopped; ) {
      isMore = await this.#relayPart(tenantId)
      partIsDone()
    }
  }

  async #relayPart(tenantId: string): Promise<boolean> {
    const { isMore, waitedMs, grown } = await this.#relay.run(tenantId)
    this.#ages.seen('queued', tenantId, waitedMs)
    const tenant = grown.length > 0 ? await this.#deps.findTenant(tenantId) : undefined
    if (tenant) await this.#backlog.check(tenant, grown)
    return isMore
  }

  #count(outcomes: readonly Outcome[]): void {
    const byStatus = Map.groupBy(outcomes, ({ status }) => status)
    for (const [status, { length }] of byStatus) this.#metrics?.deliveriesAttempted(status, length)
  }
}

/** Milliseconds after which a tenant that was not looked at counts as still waiting. */
const staleMs = 30_000

type Stage = 'queued' | 'due'

/** Records how long undelivered messages have waited, as of the last look at each tenant. */
export class QueueAge {
  readonly #stages: Readonly<Record<Stage, Map<string, { waitedMs: number; atMs: number }>>> = {
    queued: new Map(),
    due: new Map(),
  }
  readonly #nowMs: () => number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Records the milliseconds that the oldest message of a tenant has waited; 0 without one. */
  seen(stage: Stage, tenantId: string, waitedMs: number): void {
    if (waitedMs > 0) this.#stages[stage].set(tenantId, { waitedMs, atMs: this.#nowMs() })
    else this.#stages[stage].delete(tenantId)
  }

  forget(tenantId: string): void {
    for (const stage of Object.values(this.#stages)) stage.delete(tenantId)
  }

  /** Returns the longest wait of all tenants, in seconds: for messages in the outbox, and for due deliveries. */
  longest(): Record<Stage, number> {
    return { queued: this.#longestOf('queued'), due: this.#longestOf('due') }
  }

  #longestOf(stage: Stage): number {
    let longestMs = 0
    for (const { waitedMs, atMs } of this.#stages[stage].values()) {
      const sinceMs = this.#nowMs() - atMs
      longestMs = Math.max(longestMs, sinceMs > staleMs ? waitedMs + sinceMs : waitedMs)
    }
    return longestMs / 1000
  }
}
