import type { Logger } from 'pino'
import { backoff } from '../../contract/backoff.ts'
import { batchEventsMax } from '../../contract/limits.ts'
import { findBatch } from './batch-search.ts'
import type { Outcome } from './hub-response.ts'
import { type HubSession, keyTrustedMs, QueryFailed } from './hub-session.ts'
import type { SpooledBatch, SpooledBatches } from './spool-batches.ts'

/** Events that arrive within this time share a request. */
const lingerMs = 100
const retryFirstMs = 500
/**
 * Milliseconds between attempts after a wrong secret or a missing scope. A retry helps only after a correction, and
 * consumes the rate limit.
 */
const refusedCallerMs = 30_000
/** Milliseconds between checks of a waiting forwarder for decisions that a command left in the spool. */
const decisionsMs = 1000

type ForwarderLog = Pick<Logger, 'info' | 'warn' | 'error'>

/** The state that the status page shows. */
interface ForwarderState {
  /** `idle`: no events to send; `waiting`: until the next attempt; `stopped`: no more attempts. */
  activity: 'idle' | 'sending' | 'waiting' | 'stopped'
  /** The time at which the Hub last accepted an event. */
  lastForwardedAtMs: number | undefined
  lastError: { atMs: number; message: string } | undefined
  nextAttemptAtMs: number | undefined
}

interface ForwarderDeps {
  batches: SpooledBatches
  session: HubSession
  retryMaxMs: number
  log: ForwarderLog
}

/** The Hub's Date header has whole seconds, and its clock is sometimes adjusted. */
const searchableSkewMs = 60_000

/** Sends the events of the spool, one batch after another, until it is stopped. */
export class Forwarder {
  readonly state: ForwarderState = {
    activity: 'idle',
    lastForwardedAtMs: undefined,
    lastError: undefined,
    nextAttemptAtMs: undefined,
  }
  readonly #deps: ForwarderDeps
  #running: Promise<void> | undefined
  #isStopping = false
  #failures = 0
  #sizeMax = batchEventsMax
  #interrupt = () => {}
  #isWoken = false

  constructor(deps: ForwarderDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#deps.batches.reconsider()
    this.#running = this.#run()
  }

  /** Signals that events may be waiting. */
  wake(): void {
    this.#isWoken = true
    this.#interrupt()
  }

  /** Stops after the batch in flight, or aborts that batch when the signal fires. */
  async stop(cutOff: AbortSignal): Promise<void> {
    this.#isStopping = true
    this.#interrupt()
    const abort = () => this.#deps.session.abort()
    cutOff.addEventListener('abort', abort, { once: true })
    await this.#running
    cutOff.removeEventListener('abort', abort)
  }

  async #run(): Promise<void> {
    await this.#signInFirst()
    while (!this.#isStopping) {
      try {
        await this.#forwardNext()
      } catch (error) {
        this.#failures++
        if (error instanceof QueryFailed && 'message' in error.outcome) await this.#failedFor(error.outcome)
        // A disk error: sent batches are sent again under their keys and get the same response.
        else {
          const message = `The spool could not be worked with: ${(error as Error).message}.`
          await this.#failed(message, this.#backoffMs({}, retryFirstMs))
        }
      }
    }
    this.state.activity = 'stopped'
  }

  /**
   * Authenticates before the first event, so that a wrong secret or a missing scope shows at start, not when telemetry
   * arrives. Continues once that is corrected. An unreachable Hub is logged too, and retried when there are events to
   * send.
   */
  async #signInFirst(): Promise<void> {
    const { session, log } = this.#deps
    while (!this.#isStopping) {
      const barred = await session.signIn()
      if (!barred || !('message' in barred)) break
      if (barred.kind !== 'barred') {
        log.warn({ reason: barred.message }, 'the Hub is unavailable; events wait in the spool')
        this.state.lastError = { atMs: Date.now(), message: barred.message }
        break
      }
      await this.#failedFor(barred)
    }
    if (this.#failures > 0 && !this.#isStopping) log.info({}, 'the Hub lets this connector in')
    this.#failures = 0
  }

  async #forwardNext(): Promise<void> {
    this.#isWoken = false
    const batch = this.#deps.batches.next(this.#sizeMax)
    if (batch !== undefined) return this.#forward(batch)
    this.state.activity = 'idle'
    await this.#pause(decisionsMs, true)
    if (this.#isWoken) await this.#pause(lingerMs, false)
  }

  async #forward(batch: SpooledBatch): Promise<void> {
    const { batches, session, log } = this.#deps
    this.state.activity = 'sending'
    const barred = await session.signIn()
    if (barred && 'message' in barred) return this.#failedFor(barred)
    if (this.#isOld(batch)) return this.#decideOld(batch)
    batches.sending(batch, session.subject, session.hubNowMs())
    const outcome = await session.send(batch)
    if (outcome.kind === 'taken') {
      batches.settle(batch, outcome.rejections)
      this.#succeeded()
      if (outcome.rejections.size < batch.events.length) this.state.lastForwardedAtMs = Date.now()
      if (outcome.rejections.size > 0) log.warn({ count: outcome.rejections.size }, 'the Hub refused events')
      return
    }
    if (outcome.kind !== 'unknown') batches.notTaken(batch)
    if (outcome.kind === 'refused') return this.#refuse(batch, outcome)
    await this.#failedFor(outcome)
  }

  #isOld({ doubt }: SpooledBatch): boolean {
    if (doubt === undefined) return false
    const ageMs = this.#deps.session.hubNowMs() - doubt.sinceMs
    // If the clock went back by more than its normal skew, the age is meaningless.
    return ageMs > keyTrustedMs || ageMs < -searchableSkewMs
  }

  /** Checks whether the Hub has a batch whose key it may have forgotten. */
  async #decideOld(batch: SpooledBatch): Promise<void> {
    const { batches, session, log } = this.#deps
    const finding = await findBatch(session, batch)
    if (finding.kind === 'there') {
      batches.settle(batch, new Map())
      this.state.lastForwardedAtMs = Date.now()
      log.info({ key: batch.key }, 'a batch without an answer was found in the Hub')
    } else if (finding.kind === 'absent') {
      batches.dissolve(batch)
      log.info({ key: batch.key }, 'a batch without an answer is not in the Hub; sending its events again')
    } else {
      batches.putAside(batch, finding.reason)
      log.error({ key: batch.key, reason: finding.reason }, 'a batch is uncertain: see hub connector uncertain')
    }
  }

  #refuse(batch: SpooledBatch, outcome: Extract<Outcome, { kind: 'refused' }>): void {
    const { batches, log } = this.#deps
    if (batch.doubt !== undefined || outcome.problem.slug === 'idempotency-conflict') {
      batches.putAside(batch, `an attempt had no answer, and then the Hub said: ${outcome.message}`)
      log.error({ key: batch.key }, 'a batch is uncertain: see hub connector uncertain')
    } else if (batch.events.length > 1) {
      // One of the events is the cause. Smaller requests isolate it, and the others succeed.
      batches.dissolve(batch)
      this.#sizeMax = Math.max(1, Math.ceil(batch.events.length / 2))
    } else {
      batches.settle(batch, new Map([[0, outcome.problem]]))
      log.warn({ slug: outcome.problem.slug }, 'the Hub refused an event')
    }
  }

  #succeeded(): void {
    if (this.#failures > 0) this.#deps.log.info({}, 'the Hub takes events again')
    this.#failures = 0
    this.#sizeMax = Math.min(this.#sizeMax * 2, batchEventsMax)
  }

  async #failedFor(outcome: Extract<Outcome, { message: string }>): Promise<void> {
    this.#failures++
    // A lower configured wait, as in tests, takes precedence.
    const { retryMaxMs } = this.#deps
    const firstMs = Math.min(outcome.kind === 'barred' ? refusedCallerMs : retryFirstMs, retryMaxMs)
    await this.#failed(outcome.message, this.#backoffMs('retryAfterMs' in outcome ? outcome : {}, firstMs))
  }

  async #failed(message: string, milliseconds: number): Promise<void> {
    const now = Date.now()
    // Logs each kind of failure once: an outage of a day must not fill the log.
    if (this.state.lastError?.message !== message || this.#failures === 1)
      this.#deps.log.warn({ reason: message }, 'nothing can be handed to the Hub; events wait in the spool')
    this.state.lastError = { atMs: now, message }
    this.state.nextAttemptAtMs = now + milliseconds
    this.state.activity = 'waiting'
    await this.#pause(milliseconds, false)
    this.state.nextAttemptAtMs = undefined
  }

  /** Returns an exponential backoff with jitter, so that many connectors do not return together. */
  #backoffMs({ retryAfterMs = 0 }: { retryAfterMs?: number | undefined }, firstMs: number): number {
    const max = Math.max(this.#deps.retryMaxMs, firstMs)
    const growing = backoff(this.#failures - 1, { first: firstMs, max })
    return Math.max(growing * (0.5 + Math.random() / 2), retryAfterMs)
  }

  /** Waits until the time is over, the forwarder stops, or, if `wakes` is set, it is woken. */
  #pause(milliseconds: number, wakes: boolean): Promise<void> {
    if (this.#isStopping || (wakes && this.#isWoken)) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#interrupt = () => {
        if (!this.#isStopping && !wakes) return
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
