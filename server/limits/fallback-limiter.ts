import {
  type Charge,
  MemoryRateLimiter,
  type RateDecision,
  type RateLimiter,
} from '../http/rate-limits/rate-limiter.ts'

/**
 * Applies this process' share of each limit while the shared counter does not answer. All processes together admit at
 * most one further quota, rounded up for each process.
 */
export class FallbackLimiter implements RateLimiter {
  private readonly counters = new MemoryRateLimiter()
  private readonly sharersNow: () => number

  /** @param sharers processes that share the limits, at least 1 */
  constructor(sharers: () => number) {
    this.sharersNow = sharers
  }

  async take(charges: readonly Charge[]): Promise<RateDecision> {
    const sharers = this.sharersNow()
    const decision = await this.counters.take(
      // A share of a limit above 0 remains above 0.
      charges.map((charge) => ({ ...charge, quota: Math.ceil(charge.quota / sharers) })),
    )
    return { ...decision, takenAtMs: -decision.takenAtMs }
  }

  refund(charges: readonly Charge[], takenAtMs: number): Promise<void> {
    return this.counters.refund(charges, -takenAtMs)
  }

  /** Returns whether a request was counted here: such a request has a negative time. */
  static hasCounted(takenAtMs: number): boolean {
    return takenAtMs < 0
  }
}
