import { type Charge, MemoryRateLimiter, type RateDecision, type RateLimiter } from '../http/rate-limiter.ts'

/**
 * Lets this process have its share of each limit, while the counter that all of them ask does not answer. Together they
 * let through no more than one further quota, rounded up for each process.
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
      // A share of a limit above 0 stays above 0.
      charges.map((charge) => ({ ...charge, quota: Math.ceil(charge.quota / sharers) })),
    )
    return { ...decision, takenAtMs: -decision.takenAtMs }
  }

  refund(charges: readonly Charge[], takenAtMs: number): Promise<void> {
    return this.counters.refund(charges, -takenAtMs)
  }

  /** Whether a request was counted here: only then the time at which it was is below 0. */
  static hasCounted(takenAtMs: number): boolean {
    return takenAtMs < 0
  }
}
