import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { ConcurrencyPool, ConcurrencyPools } from '../../../outbound/concurrency-pools.ts'
import type { AttemptResult } from './attempt.ts'
import { DeliveryQueue } from './delivery-queue.ts'
import type { DueDelivery } from './due-store.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { Outcome } from './outcome-store.ts'

/** Attempts at once to a receiver that takes what it gets, and to one that failed last or is not known yet. */
const atOnceMax = 16
const atOnceMin = 2
/** Deliveries in memory of a receiver that failed last. */
const failingQueueMax = 8
/** Failures in a row from which on attempts to a receiver are begun one after the other, with pauses between. */
const failuresAtFullSpeed = 3
const pacePerFailureMs = 25

export type Opened = { url: string; secrets: readonly string[] } | 'key-destroyed'

export interface EndpointDispatcherDeps {
  tenantId: string
  lanes: ConcurrencyPools
  budget: MemoryBudget
  /** Sends; throws the reason of the signal. */
  send: (
    delivery: DueDelivery & { data: string },
    opened: Exclude<Opened, string>,
    stop: AbortSignal,
  ) => Promise<AttemptResult>
  /** What became of it, see `delivery-outcome.ts`. */
  judge: (delivery: DueDelivery, result: AttemptResult | 'erased' | 'key-destroyed') => Outcome
  /** Resolves once it is kept. */
  keep: (outcome: Outcome) => Promise<void>
  /** More is wanted. */
  wake: () => void
  /** Whether anything may be begun. */
  isHeld: () => boolean
  /** The longest pause between attempts to a receiver that keeps failing. */
  paceMsMax: number
  /** How long at most a receiver that asks for a pause gets nothing else either; then it is asked again. */
  leftAloneMsMax: number
  /** The longest time that an attempt keeps a place of the quick lane. */
  quickMsMax: number
  nowMs: () => number
}

/** Delivery to one endpoint, by the process that has leased it. */
export class EndpointDispatcher {
  readonly webhookId: string
  /** By `nowMs`; nothing is begun after it. */
  leasedUntilMs = 0
  /** When it had something to do last. */
  activeAtMs: number
  /** Of a disabled one only tests are sent. */
  onlyTests = false
  /** More was due than was read. */
  hasMore = false
  /** Some that a look may have left out, because they were held as it began, are held no more. */
  isMissing = false
  readonly #deps: EndpointDispatcherDeps
  #opened: Opened | undefined
  #openedUntilMs = 0
  #failures: number
  #atOnce = atOnceMin
  #isSlow = false
  #isEnded = false
  readonly #queue = new DeliveryQueue()
  /** Those in the queue, on their way, and waiting to be kept; and their bytes. */
  readonly #held = new Map<string, number>()
  readonly #onTheWay = new Map<Promise<void>, AbortController>()
  #beginAtMs = 0
  #timer: NodeJS.Timeout | undefined
  #hasWoken = false

  constructor(webhookId: string, failures: number, deps: EndpointDispatcherDeps) {
    this.webhookId = webhookId
    this.#failures = failures
    this.#deps = deps
    this.activeAtMs = deps.nowMs()
  }

  get held(): Iterable<string> {
    return this.#held.keys()
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  get isIdle(): boolean {
    return this.#held.size === 0
  }

  /** How many deliveries it could make use of when it begins. @param failures in a row */
  static wantedAtFirst(failures: number): number {
    return failures > 0 ? failingQueueMax : DeliveryQueue.wantedAtFirst
  }

  /** How many more deliveries it can make use of. */
  get wanted(): number {
    const { isHeld, budget, tenantId } = this.#deps
    if (this.#isEnded || isHeld() || (!this.isIdle && budget.room(tenantId) === 0)) return 0
    return this.#queue.wanted(this.#failures > 0 ? failingQueueMax : Number.POSITIVE_INFINITY)
  }

  /** With which address and secrets it goes on, and until when by `nowMs`; undefined while they are read anew. */
  open(opened: Opened | undefined, untilMs = Number.POSITIVE_INFINITY): void {
    this.#opened = opened
    this.#openedUntilMs = untilMs
    this.pump()
  }

  /** What was read, the tests first. */
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

  /** What waits is read again before any of it is sent: it may have been erased. */
  readAgain(): void {
    this.#giveUp(this.#queue.takeAll())
  }

  /** Begins what may be begun now. */
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

  /** Begins nothing more; what is on its way goes on. */
  end(): void {
    this.#isEnded = true
    clearTimeout(this.#timer)
    this.#release(this.#queue.takeAll())
  }

  /** Breaks off what is on its way, too: it is as if it had not been begun. Resolves when all of it has ended. */
  async breakOff(why: string): Promise<void> {
    this.end()
    for (const stop of this.#onTheWay.values()) stop.abort(new Error(why))
    await Promise.all(this.#onTheWay.keys())
  }

  /** Milliseconds until the next attempt may begin; infinity where an event has to come first. */
  #waitMs(): number {
    const { lanes, tenantId, isHeld, nowMs } = this.#deps
    if (this.#isEnded || this.#opened === undefined || isHeld()) return Number.POSITIVE_INFINITY
    if (this.#onTheWay.size >= (this.#failures > 0 ? atOnceMin : this.#atOnce)) return Number.POSITIVE_INFINITY
    const now = nowMs()
    if (now >= this.leasedUntilMs || now >= this.#openedUntilMs) return Number.POSITIVE_INFINITY
    if (now < this.#beginAtMs) return this.#beginAtMs - now
    // Whoever gives a place back may be another endpoint.
    return lanes.room(this.#lane(), tenantId, this.#queue.bytesEach) > 0 ? 0 : 50
  }

  #lane(): ConcurrencyPool {
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
      this.#keep(this.#deps.judge(delivery, data === null ? 'erased' : 'key-destroyed'))
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
    const { lanes, tenantId, send, judge, quickMsMax } = this.#deps
    const place = lanes.take(this.#lane(), tenantId, this.#queue.bytesEach)
    let isLate = false
    // Without room among the slow ones it is given back, and sent again once there is.
    const late = setTimeout(() => {
      isLate = true
      this.#isSlow = true
      if (!place.slowDown()) stop.abort(new Error('there is no room for slow ones'))
    }, quickMsMax)
    try {
      const result = await send(delivery, opened, stop.signal)
      this.#learn(result, isLate)
      this.#keep(judge(delivery, result))
    } catch {
      this.#giveUp([delivery])
    } finally {
      clearTimeout(late)
      place.free()
    }
  }

  #learn({ attempt, retryAfterSeconds = 0 }: AttemptResult, isLate: boolean): void {
    if (!isLate) this.#isSlow = false
    if (attempt.error) {
      this.#failures += 1
      this.#atOnce = atOnceMin
      const { nowMs, leftAloneMsMax } = this.#deps
      if (retryAfterSeconds > 0) this.#beginAtMs = nowMs() + Math.min(retryAfterSeconds * 1000, leftAloneMsMax)
      if (attempt.error.code === 'gone') this.end()
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

  /** They are to be read again. */
  #giveUp(deliveries: readonly DueDelivery[]): void {
    this.#release(deliveries)
    this.hasMore = true
    this.isMissing = true
  }

  #release(deliveries: readonly Pick<DueDelivery, 'delivery_id'>[]): void {
    const { budget, tenantId } = this.#deps
    for (const { delivery_id } of deliveries) {
      budget.free(tenantId, this.#held.get(delivery_id) ?? 0)
      this.#held.delete(delivery_id)
    }
  }
}
