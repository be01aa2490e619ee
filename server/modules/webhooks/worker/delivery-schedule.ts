import { testEventKind } from '../../../../contract/webhook-events.ts'

/** The schedule of attempts. */
export interface DeliverySchedule {
  /** Pauses between attempts, in seconds. After the last pause and one more attempt a delivery is dead. */
  pauseSeconds: readonly number[]
  /** The maximum relative deviation of a pause, so that the retries of one outage do not coincide. */
  spread: number
  /** Returns a number from 0 to 1. */
  random: () => number
}

/**
 * Returns the seconds until the next attempt; undefined after the last one.
 *
 * @param tries attempts since it was queued, this one included
 * @param retryAfterSeconds the value of `Retry-After`
 */
export function pauseAfter(
  { pauseSeconds, spread, random }: DeliverySchedule,
  { kind, tries }: { kind: string; tries: number },
  retryAfterSeconds = 0,
): number | undefined {
  const pause = kind === testEventKind ? undefined : pauseSeconds[tries - 1]
  if (pause === undefined) return undefined
  return Math.max(pause * (1 + spread * (2 * random() - 1)), retryAfterSeconds)
}
