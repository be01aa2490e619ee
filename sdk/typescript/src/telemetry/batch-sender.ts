import { HubError } from '../hub-error.ts'
import { jitteredMs, pause } from '../retry.ts'
import type { Transport } from '../transport.ts'
import type { BatchResult, TelemetryEvent } from '../types.ts'
import type { StoredBatch } from './batch-types.ts'
import { bodyOf, eventsOf } from './event-body.ts'
import type { Reports } from './reports.ts'

/** An event that the Hub refused for good. */
export interface RejectedEvent {
  event: TelemetryEvent
  /** The title and detail of the problem. */
  reason: string
}

/** The outcome of a batch. */
export interface SentBatch {
  accepted: number
  rejected: number
}

const pauseMsMax = 30_000
/** Statuses of problems that sending the same events again cannot solve. */
const permanent: readonly number[] = [400, 409, 413, 422]

/** Sends batches until the Hub has stored or refused each event. */
export class BatchSender {
  readonly #transport: Transport
  readonly #reports: Reports

  constructor(transport: Transport, reports: Reports) {
    this.#transport = transport
    this.#reports = reports
  }

  /**
   * Sends a batch, again and again while the Hub is unavailable or refuses the account. Returns undefined if the signal
   * ended it before the Hub answered.
   */
  async send(batch: StoredBatch, signal: AbortSignal): Promise<SentBatch | undefined> {
    let body = await batch.body()
    const sent = { accepted: 0, rejected: 0 }
    // Rounds are the same when a batch is sent again after a crash, and so are their keys.
    for (let round = 0; body !== undefined; round += 1) {
      const key = round === 0 ? batch.key : `${batch.key}.${round}`
      const result = await this.#untilAnswered(body, key, signal)
      if (result === undefined) return undefined
      if (!(result instanceof HubError)) {
        sent.accepted += result.accepted
        sent.rejected += result.failed
        if (result.errors) {
          const reasons = result.errors.map(({ index, title, detail }) => [index, `${title}: ${detail}`] as const)
          this.#report(eventsOf(body), reasons)
        }
        break
      }
      const events = eventsOf<TelemetryEvent>(body)
      const faults = faultsOf(result, events.length)
      const refused = faults ?? new Map(events.map((_, index) => [index, result.message]))
      sent.rejected += refused.size
      this.#report(events, [...refused])
      const left = events.filter((_, index) => !refused.has(index))
      body = bodyOf(left.map((event) => JSON.stringify(event)))
    }
    return sent
  }

  /** Returns the answer of the Hub, or its final refusal of the whole request. */
  async #untilAnswered(
    json: Uint8Array,
    idempotencyKey: string,
    signal: AbortSignal,
  ): Promise<BatchResult | HubError | undefined> {
    for (let retry = 0; ; retry += 1) {
      try {
        const request = { json, idempotencyKey, retries: 0, signal }
        const result = await this.#transport.json<BatchResult>('POST', '/api/v1/telemetry/events:batch', request)
        this.#reports.lastError = undefined
        return result
      } catch (error) {
        if (signal.aborted) return undefined
        // A proxy answers without a problem document, and does not know the events.
        const isHub = error instanceof HubError && error.slug !== 'unknown'
        if (isHub && permanent.includes(error.status)) return error
        this.#reports.error(error)
        const seconds = error instanceof HubError ? (error.retryAfter ?? 0) : 0
        const waitMs = Math.min(seconds * 1000, 10 * pauseMsMax) + jitteredMs(retry, pauseMsMax)
        await pause(waitMs, signal, { unref: true }).catch(() => undefined)
        if (signal.aborted) return undefined
      }
    }
  }

  #report(events: readonly TelemetryEvent[], refused: readonly (readonly [number, string])[]): void {
    const rejected = refused.flatMap(([index, reason]) => {
      const event = events[index]
      return event === undefined ? [] : [{ event, reason }]
    })
    if (rejected.length > 0) this.#reports.rejected(rejected)
  }
}

/** Returns the refused events by index, if the refusal of a request names some. */
function faultsOf(error: HubError, count: number): ReadonlyMap<number, string> | undefined {
  const named = error.errors.flatMap(({ pointer, detail }) => {
    const index = Number(/^\/events\/(\d{1,4})(\/|$)/.exec(pointer)?.[1])
    return index < count ? [[index, `${pointer} ${detail}`] as const] : []
  })
  return named.length === 0 ? undefined : new Map(named)
}
