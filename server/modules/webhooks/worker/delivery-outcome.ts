import { webhookAttemptsKept } from '../../../../contract/limits.ts'
import type { DeliveryAttempt } from '../delivery-types.ts'
import { type AttemptResult, unsentAttempt } from './attempt.ts'
import { type DeliverySchedule, pauseAfter } from './delivery-schedule.ts'
import type { DueDelivery } from './due-store.ts'
import type { Outcome } from './outcome-store.ts'

/**
 * Computes the next delivery state from an attempt result, or from the reason for no attempt.
 *
 * @param url the address for the log
 */
export function decideOutcome(
  schedule: DeliverySchedule,
  delivery: DueDelivery,
  result: AttemptResult | 'erased' | 'key-destroyed',
  url: string,
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
  const pauseSeconds = isGone ? undefined : pauseAfter(schedule, { kind: delivery.kind, tries }, retryAfterSeconds)
  return pauseSeconds === undefined ? { ...all, status: 'dead' } : { ...all, status: 'failed', pauseSeconds }
}

function kept({ attempts }: DueDelivery, attempt: DeliveryAttempt): DeliveryAttempt[] {
  return [...attempts, attempt].slice(-webhookAttemptsKept)
}
