import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { WebhookFormat } from '../../../../contract/webhook-formats.ts'
import type { ConcurrencyPool, ConcurrencyPools, FairShare } from '../../../delivery/concurrency-pools.ts'
import type { LeasedTarget } from '../../../delivery/target-leases.ts'
import type { DeliveryAttempt } from '../webhooks-types.ts'
import { decideOutcome } from './delivery-outcome.ts'
import type { DueDelivery, EndpointState } from './delivery-queue-store.ts'
import type { Outcome } from './outcome-store.ts'

/**
 * Maximum number of concurrent attempts to a receiver that accepts messages, and to one that failed last or is unknown.
 */
const atOnceMax = 16
const atOnceMin = 2
/** Maximum number of deliveries in memory for a receiver that failed last. */
const failingQueueMax = 8
/** Consecutive failures after which attempts to a receiver start one after the other, with pauses. */
const failuresAtFullSpeed = 3
const pacePerFailureMs = 25
/** Milliseconds after which an idle endpoint is released. */
const idleMs = 5_000

export type Opened = { url: string; format: WebhookFormat; secrets: readonly string[] } | 'key-destroyed'

export interface EndpointDispatcherDeps {
  tenantId: string
  pools: ConcurrencyPools
  /** The bytes of deliveries that this process has read and not finished. */
  budget: FairShare
  /** Sends a message; throws the reason of the signal. */
  send: (
    delivery: DueDelivery & { data: string },
    opened: Exclude<Opened, string>,
    stop: AbortSignal,
  ) => Promise<DeliveryAttempt>
  /** Saves an outcome; resolves once it is stored. */
  keep: (outcome: Outcome) => Promise<void>
  /** Requests more deliveries. */
  wake: () => void
  /** Returns whether starting attempts is on hold. */
  isHeld: () => boolean
  /** Maximum milliseconds between attempts to a receiver that keeps failing. */
  paceMsMax: number
  /** Maximum milliseconds for which a `Retry-After` stops all deliveries to the receiver; then it is tried again. */
  leftAloneMsMax: number
  nowMs: () => number
}

/** Delivers to one endpoint, in the process that leased it. */
export class EndpointDispatcher implements LeasedTarget {
  readonly webhookId: string
  readonly url: string
  format: WebhookFormat
  /** The version of its settings (see {@link EndpointState}). */
  version: string
  /** When the secrets were read last. */
  openedAtMs = Number.NEGATIVE_INFINITY
  leasedUntilMs = 0
  /** The last time it had work. */
  activeAtMs: number
  /** Whether only tests are sent, because the endpoint is disabled. */
  onlyTests: boolean
  /** Whether more was due than was read. */
  hasMore = false
  /** Whether the last poll may have skipped deliveries whose hold has ended since. */
  isMissing = false
  readonly #deps: EndpointDispatcherDeps
  #opened: Opened | undefined
  #openedUntilMs = 0
  #failures: number
  #atOnce = atOnceMin
  #isSlow = false
  #isEnded = false
  readonly #queue = new DeliveryQueue()
  /** Bytes of the deliveries that are queued, in transit, or waiting to be saved. */
  readonly #held = new Map<string, number>()
  readonly #onTheWay = new Map<Promise<void>, AbortController>()
  #beginAtMs = 0
  #timer: NodeJS.Timeout | undefined
  #hasWoken = false

  constructor(state: EndpointState, deps: EndpointDispatcherDeps) {
    this.webhookId = state.webhook_id
    this.url = state.url
    this.format = state.format
    this.version = state.version
    this.onlyTests = state.disabled_reason !== null
    this.#failures = state.failures
    this.#deps = deps
    this.activeAtMs = deps.nowMs()
  }

  get held(): Iterable<string> {
    return this.#held.keys()
  }

  get isIdle(): boolean {
    return this.#held.size === 0
  }

  isDone(isActive: boolean): boolean {
    return this.isIdle && (this.#isEnded || (!isActive && this.#deps.nowMs() - this.activeAtMs > idleMs))
  }

  /**
   * Returns the number of deliveries to read at first.
   *
   * @param failures consecutive failures
   */
  static wantedAtFirst(failures: number): number {
    return failures > 0 ? failingQueueMax : DeliveryQueue.wantedAtFirst
  }

  /** Returns how many more deliveries to read. */
  get wanted(): number {
    const { isHeld, budget, tenantId } = this.#deps
    if (this.#isEnded || isHeld() || (!this.isIdle && budget.room(tenantId) === 0)) return 0
    return this.#queue.wanted(this.#failures > 0 ? failingQueueMax : Number.POSITIVE_INFINITY)
  }

  /** Sets address and secrets, and until when they are valid by `nowMs`; undefined while they are read again. */
  open(opened: Opened | undefined, untilMs = Number.POSITIVE_INFINITY): void {
    this.#opened = opened
    this.#openedUntilMs = untilMs
    this.pump()
  }

  /** Adds deliveries that were read, the tests first. */
  take(deliveries: readonly DueDelivery[]): void {
    this.#hasWoken = false
    if (this.#isEnded || deliveries.length === 0) return
    const { budget, tenantId, nowMs } = this.#deps
    this.activeAtMs = nowMs()
    for (const { delivery_id, bytes } of deliveries) {
      this.#held.set(delivery_id, bytes)
      budget.hold(tenantId, bytes)
    }
    this.#queue.put(deliveries, nowMs())
    this.pump()
  }

  /** Makes waiting deliveries be read again before they are sent: they may have been erased. */
  readAgain(): void {
    this.#giveUp(this.#queue.takeAll())
  }

  /** Starts every attempt that may start now. */
  pump(): void {
    while (this.#queue.length > 0) {
      const waitMs = this.#waitMs()
      if (waitMs > 0) {
        if (Number.isFinite(waitMs)) this.#pumpIn(waitMs)
        return
      }
      const stale = this.#queue.takeStale(this.#deps.nowMs())
      if (stale.length > 0) {
        this.#giveUp(stale)
        continue
      }
      const delivery = this.#queue.take() as DueDelivery
      if (this.onlyTests && delivery.kind !== testEventKind) this.#release([delivery])
      else this.#begin(delivery)
    }
    this.#wakeForMore()
  }

  /** Starts nothing more; running attempts continue. */
  end(): void {
    this.#isEnded = true
    clearTimeout(this.#timer)
    this.#release(this.#queue.takeAll())
  }

  /** Ends, and aborts running attempts as if they had not started. Resolves when all have ended. */
  async breakOff(why: string): Promise<void> {
    this.end()
    for (const stop of this.#onTheWay.values()) stop.abort(new Error(why))
    await Promise.all(this.#onTheWay.keys())
  }

  /** Returns the milliseconds until the next attempt may start; infinity if an event must come first. */
  #waitMs(): number {
    const { pools, tenantId, isHeld, nowMs } = this.#deps
    if (this.#isEnded || this.#opened === undefined || isHeld()) return Number.POSITIVE_INFINITY
    if (this.#onTheWay.size >= (this.#failures > 0 ? atOnceMin : this.#atOnce)) return Number.POSITIVE_INFINITY
    const now = nowMs()
    if (now >= this.leasedUntilMs || now >= this.#openedUntilMs) return Number.POSITIVE_INFINITY
    if (now < this.#beginAtMs) return this.#beginAtMs - now
    // Another endpoint may free the slot.
    return pools.room(this.#pool, tenantId, this.#queue.bytesEach) > 0 ? 0 : 50
  }

  get #pool(): ConcurrencyPool {
    return this.#failures > 0 || this.#isSlow ? 'slow' : 'quick'
  }

  #pumpIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.pump(), Math.ceil(ms)).unref()
  }

  #wakeForMore(): void {
    if (this.#hasWoken || !this.hasMore || this.wanted === 0) return
    this.#hasWoken = true
    this.#deps.wake()
  }

  #begin(delivery: DueDelivery): void {
    const opened = this.#opened as Opened
    const { data } = delivery
    if (data === null || opened === 'key-destroyed') {
      this.#keep(decideOutcome(delivery, data === null ? 'erased' : 'key-destroyed', this.url))
      return
    }
    if (this.#failures > failuresAtFullSpeed) {
      this.#beginAtMs = this.#deps.nowMs() + Math.min(this.#failures * pacePerFailureMs, this.#deps.paceMsMax)
    }
    const stop = new AbortController()
    const run = this.#attempt({ ...delivery, data }, opened, stop).finally(() => {
      this.#onTheWay.delete(run)
      this.pump()
    })
    this.#onTheWay.set(run, stop)
    this.#wakeForMore()
  }

  async #attempt(
    delivery: DueDelivery & { data: string },
    opened: Exclude<Opened, string>,
    stop: AbortController,
  ): Promise<void> {
    const { pools, tenantId, send } = this.#deps
    let isLate = false
    const late = () => {
      isLate = true
      this.#isSlow = true
    }
    const call = { pool: this.#pool, tenantId, bytes: this.#queue.bytesEach, stop, late }
    try {
      const result = await pools.run(call, () => send(delivery, opened, stop.signal))
      this.#learn(result, isLate)
      this.#keep(decideOutcome(delivery, result, this.url))
    } catch {
      this.#giveUp([delivery])
    }
  }

  #learn({ error, retry_after_seconds: pauseSeconds = 0 }: DeliveryAttempt, isLate: boolean): void {
    if (!isLate) this.#isSlow = false
    if (error) {
      this.#failures += 1
      this.#atOnce = atOnceMin
      const { nowMs, leftAloneMsMax } = this.#deps
      if (pauseSeconds > 0) this.#beginAtMs = nowMs() + Math.min(pauseSeconds * 1000, leftAloneMsMax)
      if (error.code === 'gone') this.end()
    } else {
      this.#failures = 0
      this.#beginAtMs = 0
      this.#atOnce = Math.min(atOnceMax, this.#atOnce + 1)
    }
  }

  #keep(outcome: Outcome): void {
    void this.#deps.keep(outcome).then(() => {
      this.#release([outcome.delivery])
      this.activeAtMs = this.#deps.nowMs()
      this.#wakeForMore()
    })
  }

  /** Releases deliveries, which are read again later. */
  #giveUp(deliveries: readonly DueDelivery[]): void {
    this.#release(deliveries)
    this.hasMore = true
    this.isMissing = true
  }

  #release(deliveries: readonly Pick<DueDelivery, 'delivery_id'>[]): void {
    const { budget, tenantId } = this.#deps
    for (const { delivery_id } of deliveries) {
      budget.hold(tenantId, -(this.#held.get(delivery_id) ?? 0))
      this.#held.delete(delivery_id)
    }
  }
}

/** Milliseconds after which a delivery is read again before it is sent: it may have been erased or given up. */
const freshMs = 1_000
const bytesMax = 4 * 1024 * 1024
/** The number of deliveries to read at first, and the maximum. */
const countMin = 64
const countMax = 2_000

/** Holds deliveries to one endpoint that were read and not started: about as many as start in one second. */
export class DeliveryQueue {
  #waiting: { delivery: DueDelivery; readAtMs: number }[] = []
  #most = countMin
  #bytesEach = 1024
  #readAtMs = 0
  #begun = 0

  /** Returns the average size of the deliveries that were read last. */
  get bytesEach(): number {
    return this.#bytesEach
  }

  get length(): number {
    return this.#waiting.length
  }

  /** The number of deliveries to read at first. */
  static readonly wantedAtFirst = countMin

  /**
   * Returns how many more to read.
   *
   * @param limit maximum number of waiting deliveries
   */
  wanted(limit: number): number {
    const fitting = Math.max(1, Math.floor(bytesMax / this.#bytesEach))
    const most = Math.min(limit, this.#most, fitting)
    const missing = most - this.#waiting.length
    return missing * 2 >= most ? missing : 0
  }

  /** Adds deliveries that were just read; tests go first. */
  put(deliveries: readonly DueDelivery[], nowMs: number): void {
    if (deliveries.length === 0) return
    // Twice as many then last for at most one second.
    const wereQuick = this.#begun * 2 >= this.#most && nowMs - this.#readAtMs < freshMs / 4
    if (wereQuick) this.#most = Math.min(countMax, this.#most * 2)
    this.#readAtMs = nowMs
    this.#begun = 0
    this.#bytesEach = deliveries.reduce((sum, { bytes }) => sum + bytes, 0) / deliveries.length
    const read = deliveries.map((delivery) => ({ delivery, readAtMs: nowMs }))
    const isTest = ({ delivery }: (typeof read)[number]) => delivery.kind === testEventKind
    this.#waiting = [...read.filter(isTest), ...this.#waiting, ...read.filter((each) => !isTest(each))]
  }

  take(): DueDelivery | undefined {
    this.#begun += 1
    return this.#waiting.shift()?.delivery
  }

  /** Removes the deliveries that must be read again before they are sent. */
  takeStale(nowMs: number): DueDelivery[] {
    if (nowMs - (this.#waiting[0]?.readAtMs ?? nowMs) <= freshMs) return []
    this.#most = Math.max(countMin, Math.min(this.#most, this.#begun))
    const isStale = ({ readAtMs }: { readAtMs: number }) => nowMs - readAtMs > freshMs
    const stale = this.#waiting.filter(isStale)
    this.#waiting = this.#waiting.filter((each) => !isStale(each))
    return stale.map(({ delivery }) => delivery)
  }

  takeAll(): DueDelivery[] {
    return this.#waiting.splice(0).map(({ delivery }) => delivery)
  }
}
