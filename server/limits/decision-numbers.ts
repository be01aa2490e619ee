import type { Charge, RateDecision } from '../http/rate-limits/rate-limiter.ts'

/**
 * A decision in transit between processes: whether it is allowed (1 or 0), seconds to wait, its time (ms); then for
 * each charge the remaining quota and the seconds until more is free. It consists of bare numbers, because every
 * request causes one; the scripts of Valkey return the same form.
 */
export type DecisionNumbers = readonly number[]

export function numbersOfDecision({ allowed, retryAfterSeconds, takenAtMs, policies }: RateDecision): DecisionNumbers {
  return [
    allowed ? 1 : 0,
    retryAfterSeconds,
    takenAtMs,
    ...policies.flatMap(({ remaining, resetSeconds }) => [remaining, resetSeconds]),
  ]
}

/**
 * Converts the numbers to a decision.
 *
 * @param charges the requested charges
 */
export function decisionOfNumbers(
  [allowed, retryAfterSeconds = 1, takenAtMs = 0, ...rest]: DecisionNumbers,
  charges: readonly Charge[],
): RateDecision {
  return {
    allowed: allowed === 1,
    retryAfterSeconds,
    takenAtMs,
    policies: charges.map(({ policy, quota }, index) => ({
      policy,
      quota,
      remaining: rest[2 * index] ?? 0,
      resetSeconds: rest[2 * index + 1] ?? 1,
    })),
  }
}
