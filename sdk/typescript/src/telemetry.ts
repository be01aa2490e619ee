import type { ReadOptions, WriteOptions } from './records.ts'
import { newRequestId } from './request-id.ts'
import type { Transport } from './transport.ts'
import type { BatchResult, Summary, SummaryQuery, TelemetryEvent, WrittenEvent } from './types.ts'

const eventsPath = '/api/v1/telemetry/events'

/** Sends telemetry events, and reads their sums. */
export class Telemetry {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
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

  /** Returns usage, costs and latencies by group and period. */
  summary(query: SummaryQuery, options: ReadOptions = {}): Promise<Summary> {
    return this.#transport.json('GET', '/api/v1/telemetry/summary', { query, ...options })
  }
}
