import { randomUUID } from 'node:crypto'
import { isUnavailable } from '../../../../contract/domain-error.ts'
import { webhookFailingHoursMax, webhookPauseSeconds, webhookPauseSpread } from '../../../../contract/limits.ts'
import type { Database, DatabaseLog, Listener } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { TenantLoop } from '../../../jobs/tenant-loop.ts'
import { createConcurrencyPools } from '../../../outbound/concurrency-pools.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { DeliveryMetrics, WebhookSignal, WebhookWorker } from '../delivery-types.ts'
import type { Endpoints } from '../webhooks-types.ts'
import { type AttemptResult, attemptDelivery, unsentAttempt } from './attempt.ts'
import { createBacklogLimit } from './backlog-limit.ts'
import { decideOutcome } from './delivery-outcome.ts'
import { createMemoryBudget } from './memory-budget.ts'
import type { Outcome } from './outcome-store.ts'
import { createQueueAge } from './queue-age.ts'
import { createRelay } from './relay.ts'
import { createTenantDispatcher, type TenantDispatcher } from './tenant-dispatcher.ts'

/** Maximum number of tenants whose endpoints are looked at concurrently. */
const looksAtOnce = 8
const laneSizes = { ownPlaces: 32, sharedPlaces: 1024, tenantBytesMax: 64 * 1024 * 1024 }
const readBytes = { ownBytes: 256 * 1024, sharedBytes: 64 * 1024 * 1024 }
const stopMsMax = 5_000
const leaseSeconds = 15
/** Milliseconds for which outcomes are gathered. */
const outcomeMs = 25
const relayRetryMs = 5_000
/** Maximum milliseconds that due deliveries wait for the relay. */
const relayWaitMs = 100

export interface WebhookDispatcherDeps {
  database: Database
  endpoints: Pick<Endpoints, 'all' | 'secretsOf' | 'disable' | 'overflowed'>
  findTenant: (slug: string) => Promise<Tenant | undefined>
  listTenants: () => Promise<readonly string[]>
  /** The client with the time that a receiver has for the head of its response. */
  outbound: Pick<Outbound, 'post'>
  /** Listens for messages that other processes queued. */
  hear: (heard: (tenantId: string, word?: WebhookSignal) => void) => Listener
  /** The clock for the ids of deliveries. */
  clock: Pick<RecordClock, 'next'>
  log: DatabaseLog
}

/** Options for tests, which shorten the times. */
export interface WebhookDispatcherOptions {
  /** Maximum milliseconds between attempts to a receiver that keeps failing. */
  paceMsMax?: number
  /** Maximum milliseconds for which a `Retry-After` stops all deliveries to the receiver. */
  leftAloneMsMax?: number
  /**
   * Maximum milliseconds that an attempt keeps a slot of the quick pool; without a slot in the slow pool it is aborted.
   */
  quickMsMax?: number
  /** Maximum number of deliveries that wait for an endpoint. */
  openMax?: number
}

/**
 * Creates the worker that relays the outbox and delivers messages. Several processes may run one: each endpoint is
 * leased by one process, which alone sends to it, and others take over if it dies.
 */
export function createWebhookDispatcher(
  deps: WebhookDispatcherDeps,
  options: WebhookDispatcherOptions = {},
): WebhookWorker {
  const { database, findTenant, outbound, log } = deps
  const nowMs = () => performance.now()
  const schedule = { pauseSeconds: webhookPauseSeconds, spread: webhookPauseSpread, random: Math.random }
  const shared = {
    ...{ database, endpoints: deps.endpoints, log, nowMs },
    lanes: createConcurrencyPools(laneSizes),
    budget: createMemoryBudget(readBytes),
    send,
    judge: (...args: DropFirst<Parameters<typeof decideOutcome>>) => decideOutcome(schedule, ...args),
    leaseBy: randomUUID(),
    leaseSeconds,
    failingHoursMax: webhookFailingHoursMax,
    paceMsMax: options.paceMsMax ?? 500,
    leftAloneMsMax: options.leftAloneMsMax ?? 60_000,
    quickMsMax: options.quickMsMax ?? 2_000,
    outcomeMs,
    kept: count,
  }
  const relay = createRelay(deps)
  const overflow = createBacklogLimit(deps, options.openMax)
  const waits = createQueueAge(nowMs)
  const tenants = new Map<string, TenantDispatcher>()
  const relaying = new Map<string, Promise<void>>()
  let isStopped = true
  let metrics: DeliveryMetrics | undefined

  const loop = new TenantLoop({
    visit: look,
    listTenants: deps.listTenants,
    listen: () => deps.hear(wake),
    log,
    messages: {
      unavailable: 'messages are not delivered while the database is unavailable',
      failed: 'the messages of a tenant could not be delivered',
      unlisted: 'the tenants could not be listed to deliver their messages',
    },
    concurrency: looksAtOnce,
    nowMs,
  })

  function wake(tenantId: string, word?: WebhookSignal): void {
    if (word === 'erased') tenants.get(tenantId)?.readAgain()
    loop.wake(tenantId)
  }

  async function look(tenantId: string): Promise<number | undefined> {
    const tenant = await findTenant(tenantId)
    if (!tenant) {
      tenants.get(tenantId)?.end()
      tenants.delete(tenantId)
      waits.forget(tenantId)
      return undefined
    }
    await relaySome(tenantId)
    const deliveries = deliveriesOf(tenant)
    const nextMs = await deliveries.look()
    waits.seen('due', tenantId, deliveries.dueMs)
    return nextMs
  }

  async function relayPart(tenantId: string): Promise<boolean> {
    const { isMore, waitedMs, grown } = await relay.run(tenantId)
    waits.seen('queued', tenantId, waitedMs)
    const tenant = grown.length > 0 ? await findTenant(tenantId) : undefined
    if (tenant) await overflow.check(tenant, grown)
    return isMore
  }

  /**
   * Relays the first part at once, but waits only briefly, because another process may hold the lock. The rest runs
   * beside the delivery.
   */
  async function relaySome(tenantId: string): Promise<void> {
    if (relaying.has(tenantId)) return
    const { promise: first, resolve: goOn } = Promise.withResolvers<void>()
    let isBeside = false
    const all = relayAll(tenantId, () => {
      goOn()
      if (isBeside) loop.wake(tenantId)
    })
      .catch((error: unknown) => {
        const details = { err: error, tenant: tenantId }
        if (isUnavailable(error)) log.warn(details, 'messages wait while the database is unavailable')
        else log.error(details, 'could not create deliveries from queued messages')
        loop.wake(tenantId, relayRetryMs)
      })
      .finally(() => {
        goOn()
        relaying.delete(tenantId)
      })
    relaying.set(tenantId, all)
    const timer = setTimeout(goOn, relayWaitMs)
    await first
    clearTimeout(timer)
    isBeside = true
  }

  async function relayAll(tenantId: string, partIsDone: () => void): Promise<void> {
    while (await relayPart(tenantId)) {
      partIsDone()
      if (isStopped) return
    }
    partIsDone()
  }

  function deliveriesOf(tenant: Tenant): TenantDispatcher {
    const known = tenants.get(tenant.slug)
    if (known) return known
    const made = createTenantDispatcher(tenant, { ...shared, wake: (inMs) => loop.wake(tenant.slug, inMs) })
    tenants.set(tenant.slug, made)
    return made
  }

  async function send(tenant: Tenant, ...[delivery, { url, secrets }, stop]: SendArguments): Promise<AttemptResult> {
    try {
      return await attemptDelivery(outbound, { tenantSlug: tenant.slug, url, secrets }, delivery, stop)
    } catch (error) {
      if (stop.aborted) throw error
      const { delivery_id, webhook_id } = delivery
      log.error({ err: error, tenant: tenant.slug, webhook: webhook_id, delivery: delivery_id }, 'sending failed')
      return { attempt: unsentAttempt(url, 'unreachable', 'The Hub failed to send it; its log has the cause.') }
    }
  }

  function count(outcomes: readonly Outcome[]): void {
    if (!metrics) return
    const byStatus = Map.groupBy(outcomes, ({ status }) => status)
    for (const [status, { length }] of byStatus) metrics.deliveriesAttempted(status, length)
  }

  return {
    wake,
    breakOff: (tenantId, webhookId) => tenants.get(tenantId)?.breakOff(webhookId),
    start(shownBy) {
      isStopped = false
      metrics = shownBy
      metrics?.showWebhookWaits(waits.longest)
      loop.start()
    },
    async stop() {
      isStopped = true
      await loop.stop()
      await Promise.all(relaying.values())
      const stopping = [...tenants.values()].map((each) =>
        each.stop().catch((error: unknown) => {
          log.warn({ err: error }, 'what was being delivered is delivered again later')
        }),
      )
      tenants.clear()
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, stopMsMax)
      await Promise.race([Promise.all(stopping), late.promise]).finally(() => clearTimeout(timer))
    },
  }
}

type DropFirst<T extends readonly unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never
type SendArguments = DropFirst<Parameters<Parameters<typeof createTenantDispatcher>[1]['send']>>
