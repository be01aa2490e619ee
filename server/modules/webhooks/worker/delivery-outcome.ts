import { webhookAttemptsKept, webhookPauseSeconds, webhookPauseSpread } from '../../../../contract/limits.ts'
import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { DeliveryAttempt } from '../delivery-types.ts'
import { type AttemptResult, unsentAttempt } from './attempt.ts'
import type { DueDelivery } from './due-store.ts'
import type { Outcome } from './outcome-store.ts'

/**
 * Computes the next delivery state from an attempt result, or from the reason for no attempt.
 *
 * @param url the address for the log
 * @param random returns a number from 0 to 1
 */
export function decideOutcome(
  delivery: DueDelivery,
  result: AttemptResult | 'erased' | 'key-destroyed',
  url: string,
  random = Math.random,
): Outcome {
  if (result === 'erased') return { delivery, status: 'dead', counts: false, isGone: false }
  if (result === 'key-destroyed') {
    const detail = 'The signing secret was lost with the destroyed key of the tenant.'
    const attempts = kept(delivery, unsentAttempt(url, 'key-destroyed', detail))
    return { delivery, status: 'dead', attempts, counts: false, isGone: false }
  }
  const { attempt, retryAfterSeconds } = result
  const attempts = kept(delivery, attempt)
  const isGone = attempt.error?.code === 'gone'
  const all = { delivery, attempts, counts: true, isGone }
  if (!attempt.error) return { ...all, status: 'delivered' }
  const tries = delivery.tries + 1
  const pauseSeconds = isGone ? undefined : pauseAfter({ kind: delivery.kind, tries }, retryAfterSeconds, random)
  return pauseSeconds === undefined ? { ...all, status: 'dead' } : { ...all, status: 'failed', pauseSeconds }
}

function kept({ attempts }: DueDelivery, attempt: DeliveryAttempt): DeliveryAttempt[] {
  return [...attempts, attempt].slice(-webhookAttemptsKept)
}

/**
 * Returns the seconds until the next attempt; undefined after the last one. Pauses are spread, so that the retries of
 * one outage do not coincide.
 *
 * @param tries attempts since it was queued, this one included
 * @param retryAfterSeconds the value of `Retry-After`
 */
export function pauseAfter(
  { kind, tries }: { kind: string; tries: number },
  retryAfterSeconds = 0,
  random = Math.random,
): number | undefined {
  const pause = kind === testEventKind ? undefined : webhookPauseSeconds[tries - 1]
  if (pause === undefined) return undefined
  return Math.max(pause * (1 + webhookPauseSpread * (2 * random() - 1)), retryAfterSeconds)
}
