import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { DueDelivery } from './due-store.ts'

/** What was read longer ago is read again before it is sent: it may have been erased, or given up. */
const freshMs = 1_000
const bytesMax = 4 * 1024 * 1024
/** How many are read, first and at most. */
const countMin = 64
const countMax = 2_000

/** Deliveries to one endpoint that were read and not begun: about as many as are begun in a second. */
export class DeliveryQueue {
  #waiting: { delivery: DueDelivery; readAtMs: number }[] = []
  #most = countMin
  #bytesEach = 1024
  #readAtMs = 0
  #begun = 0

  /** Of those that were read last, on average. */
  get bytesEach(): number {
    return this.#bytesEach
  }

  get length(): number {
    return this.#waiting.length
  }

  /** How many are read at first. */
  static readonly wantedAtFirst = countMin

  /** How many more are to be read. @param limit of what waits then */
  wanted(limit: number): number {
    const fitting = Math.max(1, Math.floor(bytesMax / this.#bytesEach))
    const most = Math.min(limit, this.#most, fitting)
    const missing = most - this.#waiting.length
    return missing * 2 >= most ? missing : 0
  }

  /** What was just read; tests go first. */
  put(deliveries: readonly DueDelivery[], nowMs: number): void {
    if (deliveries.length === 0) return
    // Then twice as many last for a second at most.
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

  /** Takes out what may not be sent any more as it was read. */
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
