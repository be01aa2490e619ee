import { testEventKind } from '../../../../contract/webhook-events.ts'

/** When deliveries are attempted. */
export interface DeliverySchedule {
  /** Pauses between attempts, in seconds; after the attempt that follows the last one it is dead. */
  pauseSeconds: readonly number[]
  /** Each pause is longer or shorter by up to this part, so that those of one outage do not come back at once. */
  spread: number
  /** From 0 to 1. */
  random: () => number
}

/**
 * Seconds until the next attempt after one that failed; undefined where it was the last one.
 *
 * @param tries attempts since it was queued, this one among them
 * @param retryAfterSeconds what the receiver asked for
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
