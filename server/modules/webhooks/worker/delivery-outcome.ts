import { backoff } from '../../../../contract/backoff.ts'
import { isUnavailable } from '../../../../contract/domain-error.ts'
import { webhookAttemptsKept, webhookPauseSeconds, webhookPauseSpread } from '../../../../contract/limits.ts'
import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { DatabaseLog } from '../../../db/database.ts'
import type { DeliveryAttempt } from '../webhooks-types.ts'
import { unsentAttempt } from './attempt.ts'
import type { DueDelivery } from './delivery-queue-store.ts'
import type { Outcome } from './outcome-store.ts'

/**
 * Computes the next delivery state from an attempt result, or from the reason for no attempt.
 *
 * @param url the address for the log
 * @param random returns a number from 0 to 1
 */
export function decideOutcome(
  delivery: DueDelivery,
  result: DeliveryAttempt | 'erased' | 'key-destroyed',
  url: string,
  random = Math.random,
): Outcome {
  if (result === 'erased') return { delivery, status: 'dead', counts: false, isGone: false }
  if (result === 'key-destroyed') {
    const detail = 'The signing secret was lost when the key of the tenant was destroyed.'
    const attempts = kept(delivery, unsentAttempt(url, 'key-destroyed', detail))
    return { delivery, status: 'dead', attempts, counts: false, isGone: false }
  }
  const attempts = kept(delivery, result)
  const isGone = result.error?.code === 'gone'
  const all = { delivery, attempts, counts: true, isGone }
  if (!result.error) return { ...all, status: 'delivered' }
  const tries = delivery.tries + 1
  const pauseSeconds = isGone
    ? undefined
    : pauseAfter({ kind: delivery.kind, tries }, result.retry_after_seconds, random)
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

/** Milliseconds for which outcomes are gathered. */
const gatherMs = 25
const retryMs = { first: 500, max: 15_000 }
/** Number of outcomes that are written at once, without waiting for more. */
const plenty = 200
const writtenAtOnce = 1_000
/** Maximum number of unsaved outcomes; above it no attempt starts. */
const waitingMax = 5_000

/** Gathers outcomes of a tenant, and saves many in one transaction. */
export class OutcomeWriter {
  readonly #deps: OutcomeWriterDeps
  #waiting: { outcome: Outcome; saved: () => void }[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #failures = 0
  #isClosed = false

  constructor(deps: OutcomeWriterDeps) {
    this.#deps = deps
  }

  /** Resolves once the outcome is stored; never rejects. */
  add(outcome: Outcome): Promise<void> {
    return new Promise((saved) => {
      this.#waiting.push({ outcome, saved })
      this.#schedule()
    })
  }

  /** Whether the last write failed, or many outcomes wait. No attempt should start whose outcome could not be saved. */
  get isFull(): boolean {
    return this.#failures > 0 || this.#waiting.length > waitingMax
  }

  /** Tries once to save the waiting outcomes, and ends. Attempts whose outcomes are lost are repeated. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#writing
    this.#failures = 0
    while (this.#waiting.length > 0 && this.#failures === 0) await this.#writeSome()
    for (const { saved } of this.#waiting.splice(0)) saved()
  }

  #schedule(): void {
    if (this.#isClosed || this.#writing || this.#waiting.length === 0) return
    if (this.#failures === 0 && this.#waiting.length >= plenty) return void this.#begin()
    const pauseMs = this.#failures === 0 ? gatherMs : backoff(this.#failures - 1, retryMs)
    this.#timer ??= setTimeout(() => this.#begin(), pauseMs).unref()
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writeSome().finally(() => {
      this.#writing = undefined
      this.#schedule()
    })
  }

  async #writeSome(): Promise<void> {
    const { write, written, log } = this.#deps
    const some = this.#waiting.slice(0, writtenAtOnce)
    try {
      await write(some.map(({ outcome }) => outcome))
    } catch (error) {
      this.#failures += 1
      const isAway = isUnavailable(error)
      if (isAway) log.warn({ err: error }, 'delivery outcomes cannot be stored while the database is unavailable')
      else log.error({ err: error }, 'could not store delivery outcomes')
      return
    }
    this.#waiting = this.#waiting.slice(some.length)
    for (const { saved } of some) saved()
    const wasStuck = this.#failures > 0
    this.#failures = 0
    written(wasStuck)
  }
}

interface OutcomeWriterDeps {
  /** Saves outcomes in one transaction. */
  write: (outcomes: readonly Outcome[]) => Promise<void>
  /**
   * Called after each write that succeeded.
   *
   * @param wasStuck whether the previous write failed
   */
  written: (wasStuck: boolean) => void
  log: Pick<DatabaseLog, 'warn' | 'error'>
}
