import { RecentWindows, type SlidingWindow, waitSeconds } from './sliding-window.ts'

/** One counter that a request counts against. */
export interface Charge {
  /** The name of the policy in the response headers. */
  policy: 'token' | 'tenant' | 'address'
  /** The key of the counter: class and token, class and tenant, class and address. */
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
  /** 0 if allowed; else seconds after which the request passes, unless others have used the room. */
  retryAfterSeconds: number
  policies: PolicyState[]
  /** The time of the count, by the limiter's clock; for `refund`. */
  takenAtMs: number
}

/**
 * Counts requests in sliding windows of a minute. `take` counts one request against all charges, or against none if one
 * of them is used up. It never rejects: a shared counter that is away falls back to a local one.
 */
export interface RateLimiter {
  take(charges: readonly Charge[]): Promise<RateDecision>
  /** Refunds a `take`, for a request that must be counted elsewhere. */
  refund(charges: readonly Charge[], takenAtMs: number): Promise<void>
  /** The last known number of processes that count together. Default 1. */
  readonly sharers?: number
}

interface MemoryRateLimiterOptions {
  /** Returns monotonic milliseconds. */
  nowMs?: () => number
  /** Maximum number of counters of each kind of policy. */
  countersMax?: Partial<Record<Charge['policy'], number>>
}

/**
 * Maximum number of counters in one process. The operator creates tenants, with six classes each. A tenant can have
 * some 6,000 valid tokens at once (100 a minute, each for an hour). Strangers choose addresses.
 */
const countersMaxDefault = { tenant: 200_000, token: 200_000, address: 100_000 }

/**
 * Limits requests in one process (ADR 0005). No window of 60 s ever has more than the quota, and a request waits at
 * most 0.1 s too long.
 * Empty counters are dropped. At the bound the least recently used ones are dropped: their owner starts again, but the
 * counter above it (the tenant of a token) does not, because each kind has its own room.
 */
export class MemoryRateLimiter implements RateLimiter {
  private readonly nowMs: () => number
  private readonly kinds: Record<Charge['policy'], RecentWindows>

  constructor(options: MemoryRateLimiterOptions = {}) {
    this.nowMs = options.nowMs ?? (() => performance.now())
    const max = { ...countersMaxDefault, ...options.countersMax }
    const nowMs = this.nowMs()
    this.kinds = {
      tenant: new RecentWindows(max.tenant, nowMs),
      token: new RecentWindows(max.token, nowMs),
      address: new RecentWindows(max.address, nowMs),
    }
  }

  async take(charges: readonly Charge[]): Promise<RateDecision> {
    const nowMs = this.nowMs()
    const windows = charges.map(({ policy, key }) => this.kinds[policy].use(key, nowMs))
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
    for (const { policy, key } of charges) this.kinds[policy].find(key)?.remove(takenAtMs)
  }

  /** Returns the number of counters. */
  get size(): number {
    return Object.values(this.kinds).reduce((sum, { size }) => sum + size, 0)
  }
}
