/**
 * The pool of a call; it limits concurrent calls, because each waits for its receiver. `quick` is for receivers that
 * should answer soon, `slow` for those whose last call took long or failed.
 */
export type ConcurrencyPool = 'quick' | 'slow'

/**
 * Shares an amount between tenants. A tenant's own part is free regardless of other tenants. It holds at most a quarter
 * of the common part that it leaves free, so one tenant alone has much, and many share fairly. Switches share their
 * buffers in the same way (dynamic thresholds; Choudhury and Hahne 1998).
 */
export class FairShare {
  readonly #own: number
  readonly #common: number
  readonly #held = new Map<string, number>()
  #commonHeld = 0

  constructor({ own, common }: { own: number; common: number }) {
    this.#own = own
    this.#common = common
  }

  heldBy(tenantId: string): number {
    return this.#held.get(tenantId) ?? 0
  }

  /** Returns how much more a tenant may hold now. */
  room(tenantId: string): number {
    const mine = this.heldBy(tenantId)
    // The most that still leaves it with a quarter of the then free part.
    const more = Math.floor((this.#common - this.#commonHeld - 4 * this.#commonPart(mine)) / 5)
    return Math.max(0, this.#own - mine) + Math.max(0, more)
  }

  /** Adds to what a tenant holds, even without room; a negative amount frees it. */
  hold(tenantId: string, amount: number): void {
    const before = this.heldBy(tenantId)
    const after = before + amount
    this.#commonHeld += this.#commonPart(after) - this.#commonPart(before)
    if (after === 0) this.#held.delete(tenantId)
    else this.#held.set(tenantId, after)
  }

  #commonPart(amount: number): number {
    return Math.max(0, amount - this.#own)
  }
}

/** A call to a receiver. */
export interface PooledCall {
  pool: ConcurrencyPool
  tenantId: string
  /** The memory that it needs. */
  bytes: number
  /** Aborts the call. */
  stop: AbortController
  /** Called once the call has taken longer than the quick pool allows. */
  late: () => void
}

/** Limits the concurrent calls of this process, fairly between tenants. */
export class ConcurrencyPools {
  readonly #pools: Readonly<Record<ConcurrencyPool, FairShare>>
  readonly #tenantBytesMax: number
  readonly #quickMsMax: number

  constructor(limits: {
    /** Slots of each pool that every tenant has for itself. */
    own: number
    /** Slots of each pool that all tenants share beyond those. */
    common: number
    /** Maximum bytes in transit to the receivers of one tenant, in each pool. */
    tenantBytesMax: number
    /** Maximum milliseconds that a call keeps a slot of the quick pool. */
    quickMsMax: number
  }) {
    this.#pools = { quick: new FairShare(limits), slow: new FairShare(limits) }
    this.#tenantBytesMax = limits.tenantBytesMax
    this.#quickMsMax = limits.quickMsMax
  }

  /**
   * Returns how many more calls a tenant may start.
   *
   * @param bytes memory that each of them needs
   */
  room(pool: ConcurrencyPool, tenantId: string, bytes: number): number {
    const slots = this.#pools[pool]
    const inMemory = Math.max(1, Math.floor(this.#tenantBytesMax / Math.max(1, bytes)))
    return Math.max(0, Math.min(slots.room(tenantId), inMemory - slots.heldBy(tenantId)))
  }

  /**
   * Runs a call in a slot, even without room. A late call moves to the slow pool; without room there it is aborted, and
   * its caller repeats it once there is room.
   */
  async run<T>({ pool, tenantId, bytes, stop, late }: PooledCall, call: () => Promise<T>): Promise<T> {
    let slots = this.#pools[pool]
    slots.hold(tenantId, 1)
    const timer = setTimeout(() => {
      late()
      if (slots === this.#pools.slow) return
      if (this.room('slow', tenantId, bytes) === 0) return stop.abort(new Error('there is no room for slow calls'))
      slots.hold(tenantId, -1)
      slots = this.#pools.slow
      slots.hold(tenantId, 1)
    }, this.#quickMsMax).unref()
    try {
      return await call()
    } finally {
      clearTimeout(timer)
      slots.hold(tenantId, -1)
    }
  }
}
