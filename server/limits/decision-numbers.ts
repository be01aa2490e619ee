import type { Charge, RateDecision } from '../http/rate-limiter.ts'

/**
 * A decision on its way between processes: whether allowed (1 or 0), seconds to wait, when taken (ms); then for each
 * charge what remains and the seconds until more does. Bare numbers, since there is one for every request of the
 * service; the scripts of Valkey answer so too.
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

/** @param charges what was asked for */
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
