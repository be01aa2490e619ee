import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { DueDelivery } from './delivery-queue-store.ts'

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
