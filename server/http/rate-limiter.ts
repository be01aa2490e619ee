import { LRUCache } from 'lru-cache'

export const windowSeconds = 60

/** One counter that a request counts against. */
export interface Charge {
  /** Name of the policy in the answer's headers. */
  policy: 'token' | 'tenant' | 'address'
  /** What is counted: class and token, class and tenant, class and address. */
  key: string
  /** Requests per window. */
  quota: number
}

export interface PolicyState {
  policy: Charge['policy']
  quota: number
  /** Requests left at this moment. */
  remaining: number
  /** Whole seconds until the oldest counted request leaves the window, and the quota grows; at least 1. */
  resetSeconds: number
}

export interface RateDecision {
  allowed: boolean
  /** 0 when allowed; else after waiting that long the request passes, unless others have used the room. */
  retryAfterSeconds: number
  policies: PolicyState[]
  /** When it was counted, by the limiter's clock; for `refund`. */
  takenAtMs: number
}

/**
 * Counts requests in sliding windows of a minute. `take` counts one request against all charges, or, when one of
 * them is used up, against none. It never rejects: a shared counter that is away falls back to a local one.
 */
export interface RateLimiter {
  take(charges: readonly Charge[]): Promise<RateDecision>
  /** Takes back what `take` counted, for a request that turned out to count elsewhere. */
  refund(charges: readonly Charge[], takenAtMs: number): Promise<void>
}

interface MemoryRateLimiterOptions {
  /** Monotonic milliseconds. */
  nowMs?: () => number
  /** Addresses are chosen by strangers, so their number is bounded: the least recently seen one is forgotten. */
  addressesMax?: number
}

/**
 * The limiter of one process: ADR 0005. Counts per slot of 100 ms, and lets a slot go when its last request is a minute
 * old. So no window of 60 s ever has more than the quota, and a request waits at most 0.1 s too long.
 */
export class MemoryRateLimiter implements RateLimiter {
  private readonly nowMs: () => number
  private readonly windows = new Map<string, SlidingWindow>()
  private readonly addresses: LRUCache<string, SlidingWindow>
  private sweptAtMs: number

  constructor(options: MemoryRateLimiterOptions = {}) {
    this.nowMs = options.nowMs ?? (() => performance.now())
    this.addresses = new LRUCache({ max: options.addressesMax ?? 100_000 })
    this.sweptAtMs = this.nowMs()
  }

  async take(charges: readonly Charge[]): Promise<RateDecision> {
    const nowMs = this.nowMs()
    this.sweep(nowMs)
    const windows = charges.map((charge) => this.windowOf(charge))
    for (const window of windows) window.expire(nowMs)
    const allowed = charges.every((charge, index) => (windows[index] as SlidingWindow).sum < charge.quota)
    let retryAfterSeconds = 0
    const policies = charges.map((charge, index): PolicyState => {
      const window = windows[index] as SlidingWindow
      if (allowed) window.add(nowMs)
      else retryAfterSeconds = Math.max(retryAfterSeconds, waitSeconds(window.roomAtMs(charge.quota), nowMs))
      return {
        policy: charge.policy,
        quota: charge.quota,
        remaining: Math.max(0, charge.quota - window.sum),
        resetSeconds: waitSeconds(window.nextExpiryMs(), nowMs),
      }
    })
    return { allowed, retryAfterSeconds, policies, takenAtMs: nowMs }
  }

  async refund(charges: readonly Charge[], takenAtMs: number): Promise<void> {
    for (const charge of charges) this.windowOf(charge).remove(takenAtMs)
  }

  /** Counters held at this moment. */
  get size(): number {
    return this.windows.size + this.addresses.size
  }

  private windowOf(charge: Charge): SlidingWindow {
    const store = charge.policy === 'address' ? this.addresses : this.windows
    let window = store.get(charge.key)
    if (window === undefined) {
      window = new SlidingWindow()
      store.set(charge.key, window)
    }
    return window
  }

  /** Once per window, forgets the tokens and tenants that made no request during the last one. */
  private sweep(nowMs: number): void {
    if (nowMs - this.sweptAtMs < windowMs) return
    this.sweptAtMs = nowMs
    for (const [key, window] of this.windows) {
      window.expire(nowMs)
      if (window.sum === 0) this.windows.delete(key)
    }
  }
}

const windowMs = windowSeconds * 1000
const slotMs = 100
const slotsPerWindow = windowMs / slotMs

function slotOf(timeMs: number): number {
  return Math.floor(timeMs / slotMs)
}

/** Whole seconds from now to then: at least 1, at most the window. */
function waitSeconds(thenMs: number, nowMs: number): number {
  return Math.min(Math.max(1, Math.ceil((thenMs - nowMs) / 1000)), windowSeconds)
}

/** Counts per slot, oldest first; only slots with requests take room. */
class SlidingWindow {
  sum = 0
  /** When the last request of each slot came. */
  private lastMs: number[] = []
  private counts: number[] = []
  private head = 0

  expire(nowMs: number): void {
    while (this.head < this.lastMs.length && goneAtMs(this.lastMs[this.head] as number) <= nowMs) {
      this.sum -= this.counts[this.head] as number
      this.head++
    }
    if (this.head > slotsPerWindow) {
      this.lastMs = this.lastMs.slice(this.head)
      this.counts = this.counts.slice(this.head)
      this.head = 0
    }
  }

  add(nowMs: number): void {
    const last = this.lastMs.length - 1
    if (last >= this.head && slotOf(this.lastMs[last] as number) === slotOf(nowMs)) {
      this.lastMs[last] = nowMs
      this.counts[last] = (this.counts[last] as number) + 1
    } else {
      this.lastMs.push(nowMs)
      this.counts.push(1)
    }
    this.sum++
  }

  remove(takenAtMs: number): void {
    const index = this.lastMs.findLastIndex((time) => slotOf(time) === slotOf(takenAtMs))
    if (index < this.head || (this.counts[index] as number) === 0) return
    this.counts[index] = (this.counts[index] as number) - 1
    this.sum--
  }

  /** When the oldest counted request goes; 0 when nothing is counted. */
  nextExpiryMs(): number {
    const oldest = this.lastMs[this.head]
    return oldest === undefined ? 0 : goneAtMs(oldest)
  }

  /** When the sum falls below the quota, if nothing is added; 0 when it is below. */
  roomAtMs(quota: number): number {
    let left = this.sum
    if (left < quota) return 0
    for (let index = this.head; index < this.lastMs.length; index++) {
      left -= this.counts[index] as number
      if (left < quota) return goneAtMs(this.lastMs[index] as number)
    }
    // A quota of nothing never has room: look again after a window.
    return Number.POSITIVE_INFINITY
  }
}

/** The moment at which a slot whose last request came at `lastMs` is wholly out of the window. */
function goneAtMs(lastMs: number): number {
  return lastMs + windowMs
}
