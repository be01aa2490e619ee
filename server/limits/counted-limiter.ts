import type { Charge, RateDecision, RateLimiter } from '../http/rate-limits/rate-limiter.ts'
import type { Metrics } from '../metrics/metrics.ts'

/** Counts the decisions of a limiter by class, which is the first word of the counter's name. */
export function countDecisions(limiter: RateLimiter, metrics: Pick<Metrics, 'rateLimitDecided'>): RateLimiter {
  return {
    async take(charges: readonly Charge[]): Promise<RateDecision> {
      const decision = await limiter.take(charges)
      const rateClass = charges[0]?.key.split(' ', 1)[0] ?? 'none'
      metrics.rateLimitDecided(rateClass, decision.allowed ? 'allowed' : 'refused')
      return decision
    },
    refund: (charges, takenAtMs) => limiter.refund(charges, takenAtMs),
  }
}
