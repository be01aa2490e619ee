import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '../../../../contract/domain-error.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { RecordReceipt } from '../../records/records-types.ts'
import { ClaimRejected, type EventWriter, type Submission } from './event-writer.ts'

/** A request that waits for its transaction. */
interface PendingRequest extends Submission {
  settle(outcome: PromiseSettledResult<RecordReceipt[]>): void
}

interface TenantQueue {
  tenant: Tenant
  pending: PendingRequest[]
  pendingEvents: number
  /** The number of running group transactions. */
  running: number
  /** The number of events of the last group. */
  lastGroupEvents: number
  /** Whether a start is scheduled for the end of this turn of the event loop. */
  isStartScheduled: boolean
  /** Requests that are stored one by one, because their idempotency keys would delay a group. */
  isolated: PendingRequest[]
  isolatedRunning: number
}

const transactionsPerTenantMax = 4
/**
 * Maximum number of isolated transactions of a tenant: a client that repeats its keys must not take all connections.
 */
const isolatedPerTenantMax = 2
/**
 * Minimum number of pending events to start another transaction beside a running one. A transaction costs about the
 * same for any number, so a few events wait for the next. Batches do not wait for each other.
 */
const concurrentGroupEventsMin = 500
/** Maximum number of events in a group: as many as a batch may have. */
const groupEventsMax = 1000
/** After this many refused claims in a group, its remaining requests with a claim are isolated. */
const rejectedClaimsMax = 3

/** Maximum backlog of a tenant whose aggregation is behind, so that it leaves the backlog to the others. */
const backlogEventsBehind = 5_000

/** Maximum backlog of all tenants: about a second of work, and memory that the process can spare. */
const backlogEventsMax = 50_000
const backlogBytesMax = 128 * 1024 * 1024

interface GroupHooks {
  /** Called after each commit of events of a tenant. */
  stored(tenantId: string, events: number): void
  /** Returns the milliseconds for which a full group of a tenant must wait; a smaller one waits its share of them. */
  pauseMs(tenantId: string): number
  /** Called when a group waits, or a request is refused, because the tenant is behind. */
  slowed(outcome: 'delayed' | 'refused'): void
}

/**
 * Implements group commit: requests of a tenant that arrive during a commit share the next transaction. Each gets its
 * response after its own commit, and none waits for others: an idle tenant commits a single event at once.
 */
export class GroupCommit {
  readonly #writer: Pick<EventWriter, 'store'>
  readonly #hooks: GroupHooks
  readonly #queues = new Map<string, TenantQueue>()
  #backlogEvents = 0
  #backlogBytes = 0

  constructor(writer: Pick<EventWriter, 'store'>, hooks: GroupHooks) {
    this.#writer = writer
    this.#hooks = hooks
  }

  /**
   * Stores the events and returns their receipts after the commit. Throws only errors of its own events or claim,
   * regardless of the rest of the group; `hub-unavailable` if the backlog is full.
   */
  store(tenant: Tenant, submission: Submission): Promise<RecordReceipt[]> {
    const events = submission.events.length
    const bytes = submission.events.reduce((sum, event) => sum + event.sizeBytes, 0)
    const isFull = this.#backlogEvents + events > backlogEventsMax || this.#backlogBytes + bytes > backlogBytesMax
    if (this.#backlogEvents > 0 && isFull) {
      throw new DomainError('hub-unavailable', 'Events arrive faster than they can be stored. Try again shortly.', {
        retryAfterSeconds: 1,
      })
    }
    const queue = this.#queues.get(tenant.slug) ?? emptyQueue(tenant)
    this.#rejectIfBehind(queue, events)
    this.#backlogEvents += events
    this.#backlogBytes += bytes
    const { promise, resolve, reject } = Promise.withResolvers<RecordReceipt[]>()
    this.#queues.set(tenant.slug, queue)
    queue.pending.push({
      ...submission,
      settle: (outcome) => {
        this.#backlogEvents -= events
        this.#backlogBytes -= bytes
        if (outcome.status === 'fulfilled') resolve(outcome.value)
        else reject(outcome.reason)
      },
    })
    queue.pendingEvents += events
    this.#schedule(queue)
    return promise
  }

  #rejectIfBehind({ tenant, pendingEvents }: TenantQueue, events: number): void {
    if (pendingEvents === 0 || pendingEvents + events <= backlogEventsBehind) return
    const pauseMs = this.#hooks.pauseMs(tenant.slug)
    if (pauseMs === 0) return
    this.#hooks.slowed('refused')
    throw new DomainError(
      'hub-unavailable',
      'Events of this tenant arrive faster than they can be aggregated. Send fewer at a time, and try again shortly.',
      { retryAfterSeconds: Math.ceil((pendingEvents / groupEventsMax) * (pauseMs / 1000)), logged: false },
    )
  }

  #schedule(queue: TenantQueue): void {
    if (queue.isStartScheduled || !mayStart(queue)) return
    queue.isStartScheduled = true
    // The last group counts, too: events that join this one during a short pause are paid for by the next.
    const pauseMs = this.#pauseMs(queue, Math.max(queue.pendingEvents, queue.lastGroupEvents))
    if (pauseMs > 0) {
      this.#hooks.slowed('delayed')
      setTimeout(() => this.#start(queue), pauseMs)
    } else {
      // Events that this turn of the event loop reads from sockets join the group.
      setImmediate(() => this.#start(queue))
    }
  }

  #pauseMs({ tenant }: TenantQueue, events: number): number {
    return this.#hooks.pauseMs(tenant.slug) * Math.min(1, events / groupEventsMax)
  }

  /** Starts groups; only one if the tenant is behind, and the next after another pause. */
  #start(queue: TenantQueue): void {
    queue.isStartScheduled = false
    if (!mayStart(queue)) return
    do void this.#runGroup(queue)
    while (mayStart(queue) && this.#hooks.pauseMs(queue.tenant.slug) === 0)
    this.#schedule(queue)
  }

  async #runGroup(queue: TenantQueue): Promise<void> {
    queue.running++
    await this.#commit(queue, takeGroup(queue))
    queue.running--
    this.#schedule(queue)
    this.#dropIfIdle(queue)
  }

  #dropIfIdle({ tenant, pending, running, isolated, isolatedRunning }: TenantQueue): void {
    if (pending.length + running + isolated.length + isolatedRunning === 0) this.#queues.delete(tenant.slug)
  }

  /** Stores a group. Never rejects: every request is settled with its own result. */
  async #commit(queue: TenantQueue, group: readonly PendingRequest[]): Promise<void> {
    const { tenant } = queue
    let remaining = [...group]
    for (let rejectedClaims = 0; remaining.length > 0; rejectedClaims++) {
      try {
        const receipts = await this.#writer.store(tenant, remaining, false)
        remaining.forEach((request, index) => {
          request.settle({ status: 'fulfilled', value: receipts[index]! })
        })
        return this.#hooks.stored(tenant.slug, eventsOf(remaining))
      } catch (error) {
        if (!(error instanceof ClaimRejected)) return this.#bisect(queue, remaining, error)
        const [refused] = remaining.splice(error.index, 1)
        if (error.inFlight) this.#isolate(queue, [refused!])
        else fail(refused!, refused!.claim!.taken())
        if (rejectedClaims < rejectedClaimsMax) continue
        const claiming = remaining.filter(({ claim }) => claim !== undefined)
        remaining = remaining.filter(({ claim }) => claim === undefined)
        this.#isolate(queue, claiming)
      }
    }
  }

  /**
   * Fails all requests if the database is away. Any other error is one request's fault, which halving the group finds.
   */
  async #bisect(queue: TenantQueue, group: readonly PendingRequest[], error: unknown): Promise<void> {
    if (group.length === 1 || error instanceof DomainError) {
      for (const request of group) fail(request, error)
      return
    }
    const half = Math.ceil(group.length / 2)
    await this.#commit(queue, group.slice(0, half))
    await this.#commit(queue, group.slice(half))
  }

  #isolate(queue: TenantQueue, requests: readonly PendingRequest[]): void {
    queue.isolated.push(...requests)
    while (queue.isolated.length > 0 && queue.isolatedRunning < isolatedPerTenantMax) void this.#runIsolated(queue)
  }

  async #runIsolated(queue: TenantQueue): Promise<void> {
    queue.isolatedRunning++
    for (let request = queue.isolated.shift(); request !== undefined; request = queue.isolated.shift()) {
      const pauseMs = this.#pauseMs(queue, request.events.length)
      if (pauseMs > 0) {
        this.#hooks.slowed('delayed')
        await delay(pauseMs)
      }
      await this.#commitIsolated(queue.tenant, request)
    }
    queue.isolatedRunning--
    this.#dropIfIdle(queue)
  }

  /** Stores a request in a transaction of its own, which waits for the key. */
  async #commitIsolated(tenant: Tenant, request: PendingRequest): Promise<void> {
    try {
      const [receipts] = await this.#writer.store(tenant, [request], true)
      request.settle({ status: 'fulfilled', value: receipts! })
      this.#hooks.stored(tenant.slug, eventsOf([request]))
    } catch (error) {
      fail(request, error instanceof ClaimRejected ? request.claim!.taken() : error)
    }
  }
}

function eventsOf(requests: readonly PendingRequest[]): number {
  return requests.reduce((sum, { events }) => sum + events.length, 0)
}

function emptyQueue(tenant: Tenant): TenantQueue {
  return {
    ...{ tenant, pending: [], pendingEvents: 0, running: 0, lastGroupEvents: 0 },
    ...{ isStartScheduled: false, isolated: [], isolatedRunning: 0 },
  }
}

function mayStart({ pending, pendingEvents, running }: TenantQueue): boolean {
  if (pending.length === 0) return false
  return running === 0 || (running < transactionsPerTenantMax && pendingEvents >= concurrentGroupEventsMin)
}

/** Takes the first requests that fit into a group; a larger one is a group of its own. */
function takeGroup(queue: TenantQueue): PendingRequest[] {
  let events = 0
  const end = queue.pending.findIndex((request, index) => {
    events += request.events.length
    return index > 0 && events > groupEventsMax
  })
  const group = queue.pending.splice(0, end < 0 ? queue.pending.length : end)
  queue.lastGroupEvents = eventsOf(group)
  queue.pendingEvents -= queue.lastGroupEvents
  return group
}

function fail(request: PendingRequest, reason: unknown): void {
  request.settle({ status: 'rejected', reason })
}
