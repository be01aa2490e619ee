import { backoff } from '../../contract/backoff.ts'
import { batchEventsMax } from '../../contract/limits.ts'
import { type Finding, findBatch } from './batch-search.ts'
import { decisionsMs, keyTrustedMs, lingerMs, refusedCallerMs, retryFirstMs } from './connector-limits.ts'
import type { Outcome } from './hub-response.ts'
import { type HubSession, QueryFailed } from './hub-session.ts'
import type { SpooledBatch, SpooledBatches } from './spool-batches.ts'

export interface ForwarderLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** The state that the status page shows. */
export interface ForwarderState {
  /** `idle`: no events to send; `waiting`: until the next attempt; `stopped`: no more attempts. */
  activity: 'idle' | 'sending' | 'waiting' | 'stopped'
  /** The time at which the Hub last accepted an event. */
  lastForwardedAtMs: number | undefined
  lastError: { atMs: number; message: string } | undefined
  nextAttemptAtMs: number | undefined
}

export interface Forwarder {
  readonly state: ForwarderState
  /** Signals that events may be waiting. */
  wake(): void
  /** Stops after the batch in flight, or aborts that batch when the signal fires. */
  stop(cutOff: AbortSignal): Promise<void>
}

/** Sends the events of the spool, one batch after another, until it is stopped. */
export function startForwarder(deps: {
  batches: SpooledBatches
  session: HubSession
  retryMaxMs: number
  log: ForwarderLog
}): Forwarder {
  const { batches, session, retryMaxMs, log } = deps
  const state: ForwarderState = {
    activity: 'idle',
    lastForwardedAtMs: undefined,
    lastError: undefined,
    nextAttemptAtMs: undefined,
  }
  let stopping = false
  let failures = 0
  let sizeMax = batchEventsMax
  let interrupt = () => {}
  let woken = false

  /** Waits until the time is over, the forwarder stops, or, if `wakes` is set, it is woken. */
  function pause(milliseconds: number, wakes: boolean): Promise<void> {
    if (stopping || (wakes && woken)) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      interrupt = () => {
        if (!stopping && !wakes) return
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Returns an exponential backoff with jitter, so that many connectors do not return together. */
  function backoffMs(outcome: { retryAfterMs?: number | undefined }, firstMs: number): number {
    const growing = backoff(failures - 1, { first: firstMs, max: Math.max(retryMaxMs, firstMs) })
    return Math.max(growing * (0.5 + Math.random() / 2), outcome.retryAfterMs ?? 0)
  }

  async function failed(message: string, milliseconds: number): Promise<void> {
    const now = Date.now()
    // Logs each kind of failure once: an outage of a day must not fill the log.
    if (state.lastError?.message !== message || failures === 1)
      log.warn({ reason: message }, 'nothing can be handed to the Hub; events wait in the spool')
    state.lastError = { atMs: now, message }
    state.nextAttemptAtMs = now + milliseconds
    state.activity = 'waiting'
    await pause(milliseconds, false)
    state.nextAttemptAtMs = undefined
  }

  async function failedFor(outcome: Extract<Outcome, { message: string }>): Promise<void> {
    failures++
    // A lower configured wait, as in tests, takes precedence.
    const firstMs = outcome.kind === 'barred' ? Math.min(refusedCallerMs, retryMaxMs) : retryFirstMs
    await failed(outcome.message, backoffMs('retryAfterMs' in outcome ? outcome : {}, Math.min(firstMs, retryMaxMs)))
  }

  function succeeded(): void {
    if (failures > 0) log.info({}, 'the Hub takes events again')
    failures = 0
    sizeMax = Math.min(sizeMax * 2, batchEventsMax)
  }

  /**
   * Authenticates before the first event, so that a wrong secret or a missing scope shows at start, not when telemetry
   * arrives. Continues once that is corrected. An unreachable Hub is logged too, and retried when there are events to
   * send.
   */
  async function signInFirst(): Promise<void> {
    while (!stopping) {
      const barred = await session.signIn()
      if (!barred || !('message' in barred)) break
      if (barred.kind !== 'barred') {
        log.warn({ reason: barred.message }, 'the Hub is unavailable; events wait in the spool')
        state.lastError = { atMs: Date.now(), message: barred.message }
        break
      }
      await failedFor(barred)
    }
    if (failures > 0 && !stopping) log.info({}, 'the Hub lets this connector in')
    failures = 0
  }

  function refuse(batch: SpooledBatch, outcome: Extract<Outcome, { kind: 'refused' }>): void {
    if (batch.doubt !== undefined || outcome.problem.slug === 'idempotency-conflict') {
      batches.putAside(batch, `an attempt had no answer, and then the Hub said: ${outcome.message}`)
      log.error({ key: batch.key }, 'a batch is uncertain: see hub connector uncertain')
    } else if (batch.events.length > 1) {
      // One of the events is the cause. Smaller requests isolate it, and the others succeed.
      batches.dissolve(batch)
      sizeMax = Math.max(1, Math.ceil(batch.events.length / 2))
    } else {
      batches.settle(batch, new Map([[0, outcome.problem]]))
      log.warn({ slug: outcome.problem.slug }, 'the Hub refused an event')
    }
  }

  /** Checks whether the Hub has a batch whose key it may have forgotten. */
  async function decideOld(batch: SpooledBatch): Promise<void> {
    const finding: Finding = await findBatch(session, batch)
    if (finding.kind === 'there') {
      batches.settle(batch, new Map())
      state.lastForwardedAtMs = Date.now()
      log.info({ key: batch.key }, 'a batch without an answer was found in the Hub')
    } else if (finding.kind === 'absent') {
      batches.dissolve(batch)
      log.info({ key: batch.key }, 'a batch without an answer is not in the Hub; sending its events again')
    } else {
      batches.putAside(batch, finding.reason)
      log.error({ key: batch.key, reason: finding.reason }, 'a batch is uncertain: see hub connector uncertain')
    }
  }

  function isOld({ doubt }: SpooledBatch): boolean {
    if (doubt === undefined) return false
    const ageMs = session.hubNowMs() - doubt.sinceMs
    // If the clock went back by more than its normal skew, the age is meaningless.
    return ageMs > keyTrustedMs || ageMs < -searchableSkewMs
  }

  async function forward(batch: SpooledBatch): Promise<void> {
    state.activity = 'sending'
    const barred = await session.signIn()
    if (barred && 'message' in barred) return failedFor(barred)
    if (isOld(batch)) return decideOld(batch)
    batches.sending(batch, session.clientId, session.hubNowMs())
    const outcome = await session.send(batch)
    if (outcome.kind === 'taken') {
      batches.settle(batch, outcome.refusals)
      succeeded()
      if (outcome.refusals.size < batch.events.length) state.lastForwardedAtMs = Date.now()
      if (outcome.refusals.size > 0) log.warn({ count: outcome.refusals.size }, 'the Hub refused events')
      return
    }
    if (outcome.kind !== 'unknown') batches.notTaken(batch)
    if (outcome.kind === 'refused') return refuse(batch, outcome)
    await failedFor(outcome)
  }

  async function run(): Promise<void> {
    await signInFirst()
    while (!stopping) {
      try {
        woken = false
        const batch = batches.next(sizeMax)
        if (batch !== undefined) {
          await forward(batch)
        } else {
          state.activity = 'idle'
          await pause(decisionsMs, true)
          if (woken) await pause(lingerMs, false)
        }
      } catch (error) {
        failures++
        if (error instanceof QueryFailed && 'message' in error.outcome) await failedFor(error.outcome)
        // A disk error: sent batches are sent again under their keys and get the same response.
        else
          await failed(`The spool could not be worked with: ${(error as Error).message}.`, backoffMs({}, retryFirstMs))
      }
    }
    state.activity = 'stopped'
  }

  batches.reconsider()
  const running = run()
  return {
    state,
    wake: () => {
      woken = true
      interrupt()
    },
    async stop(cutOff) {
      stopping = true
      interrupt()
      const abort = () => session.abort()
      cutOff.addEventListener('abort', abort, { once: true })
      await running
      cutOff.removeEventListener('abort', abort)
    },
  }
}

/** The Hub's Date header has whole seconds, and its clock is sometimes adjusted. */
const searchableSkewMs = 60_000
