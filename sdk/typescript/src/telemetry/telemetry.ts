import type { ReadOptions, WriteOptions } from '../records.ts'
import { newRequestId } from '../request-id.ts'
import type { Transport } from '../transport.ts'
import type { BatchResult, Summary, SummaryQuery, TelemetryEvent, WrittenEvent } from '../types.ts'
import type { BatcherOptions, BatcherStats } from './batcher-options.ts'
import { EventBatcher } from './event-batcher.ts'
import { type CallTrace, type TracedEvent, traced } from './trace.ts'

const eventsPath = '/api/v1/telemetry/events'

/** Sends telemetry events, at once or in the background, and reads their sums. */
export class Telemetry {
  readonly #transport: Transport
  readonly #options: BatcherOptions
  #batcher: EventBatcher | undefined

  constructor(transport: Transport, options: BatcherOptions = {}) {
    this.#transport = transport
    this.#options = options
    // Sends what an earlier process left.
    if (options.spool) this.#background()
  }

  /** Sends one event, and returns when it is stored. */
  send(event: TelemetryEvent, options: WriteOptions = {}): Promise<WrittenEvent> {
    return this.#transport.json('POST', eventsPath, { idempotencyKey: newRequestId(), ...options, body: event })
  }

  /** Sends up to 1,000 events, and returns when they are stored. `errors` lists refused events. */
  sendBatch(events: readonly TelemetryEvent[], options: WriteOptions = {}): Promise<BatchResult> {
    const body = { events }
    return this.#transport.json('POST', `${eventsPath}:batch`, { idempotencyKey: newRequestId(), ...options, body })
  }

  /**
   * Buffers an event, which is sent in the background. Resolves true when it is buffered (with a spool: on disk), false
   * if it was dropped. Await it, so that a full buffer slows the caller down.
   */
  track(event: TelemetryEvent): Promise<boolean> {
    return this.#background().track(event)
  }

  /**
   * Runs a call and tracks one event about it. Set tokens and costs with the argument of the call. Returns and throws
   * what the call does.
   */
  trace<Result>(event: TracedEvent, call: (trace: CallTrace) => Result | Promise<Result>): Promise<Result> {
    return traced(event, call, (measured) => {
      void this.track(measured).catch((error) => this.#background().report(error))
    })
  }

  /** Sends what is buffered. Resolves false if that takes longer than `timeoutMs` (10,000 by default). */
  flush(options?: { timeoutMs?: number }): Promise<boolean> {
    return this.#batcher?.flush(options) ?? Promise.resolve(true)
  }

  /** Counts of tracked events. */
  get stats(): BatcherStats {
    return this.#batcher?.stats ?? { queued: 0, accepted: 0, rejected: 0, dropped: 0 }
  }

  /** Flushes and stops the background. What is unsent after `timeoutMs` (10,000 by default) stays in the spool, or is lost. */
  close(options?: { timeoutMs?: number }): Promise<BatcherStats> {
    return this.#batcher?.close(options) ?? Promise.resolve(this.stats)
  }

  /** Returns usage, costs and latencies by group and period. */
  summary(query: SummaryQuery, options: ReadOptions = {}): Promise<Summary> {
    return this.#transport.json('GET', '/api/v1/telemetry/summary', { query, ...options })
  }

  #background(): EventBatcher {
    this.#batcher ??= new EventBatcher(this.#transport, this.#options)
    return this.#batcher
  }
}
