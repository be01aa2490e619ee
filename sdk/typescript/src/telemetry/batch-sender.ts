import { HubError } from '../hub-error.ts'
import { HubConnectionError, jitteredMs, pause } from '../retry.ts'
import type { Transport } from '../transport.ts'
import type { BatchResult, TelemetryEvent } from '../types.ts'
import { halvesOf, keyOf, newestOf, type Part, partOf } from './batch-parts.ts'
import type { StoredBatch } from './batch-types.ts'
import { eventsOf } from './event-body.ts'
import type { Reports } from './reports.ts'

/** An event that the Hub refused for good. */
export interface RejectedEvent {
  event: TelemetryEvent
  /** The title and detail of the problem. The Hub gives them for the first 100 refused events of a batch. */
  reason: string
}

/** The outcome of a batch. */
export interface SentBatch {
  accepted: number
  rejected: number
}

/** The response to a stored batch. The forwarder of Mode C has `events` instead of `records`. */
type StoredResult = BatchResult & { events?: { index: number }[] }

const pauseMsMax = 30_000
/** Statuses of problems that sending the same events again cannot solve. */
const permanent: readonly number[] = [400, 409, 413, 422]

/** Sends batches until the Hub has stored or refused each event. */
export class BatchSender {
  readonly #transport: Transport
  readonly #reports: Reports
  /** Bytes of the smallest body that was too large for the Hub or a proxy. */
  #refusedBytes = Number.POSITIVE_INFINITY

  constructor(transport: Transport, reports: Reports) {
    this.#transport = transport
    this.#reports = reports
  }

  /**
   * Sends a batch, again and again while the Hub is unavailable or refuses the account. Returns undefined if the signal
   * ended it before the Hub answered.
   *
   * @param isLast whether the page is being left. The newest events then go by a request that outlives it, as many as
   *   the platform permits.
   */
  async send(batch: StoredBatch, signal: AbortSignal, isLast = false): Promise<SentBatch | undefined> {
    const body = await batch.body()
    if (body === undefined) return { accepted: 0, rejected: 0 }
    const whole = { body, key: batch.key, round: 0 }
    if (!isLast) return this.#sendParts([whole], signal)
    const [newest, older] = newestOf(whole)
    const sent = await Promise.all([this.#sendParts(newest, signal, true), this.#sendParts(older, signal)])
    return sent.reduce((a, b) => a && b && { accepted: a.accepted + b.accepted, rejected: a.rejected + b.rejected })
  }

  async #sendParts(parts: Part[], signal: AbortSignal, keepalive = false): Promise<SentBatch | undefined> {
    const sent = { accepted: 0, rejected: 0 }
    for (let part = parts.shift(); part; part = parts.shift()) {
      const { body, key, round } = part
      const halves = body.length < this.#refusedBytes ? undefined : halvesOf(part)
      if (halves) {
        parts.unshift(...halves)
        continue
      }
      const result = await this.#untilAnswered(body, keyOf(part), signal, keepalive)
      if (result === undefined) return undefined
      if (!(result instanceof HubError)) {
        sent.accepted += result.accepted
        sent.rejected += result.failed
        if (result.failed > 0) {
          const events = eventsOf<TelemetryEvent>(body)
          this.#report(events, [...rejectionsOf(result, events.length)])
        }
        continue
      }
      const events = eventsOf<TelemetryEvent>(body)
      const faults = faultsOf(result, events.length)
      if (!faults && result.status === 413 && events.length > 1) {
        // Later batches of this size are halved at once.
        this.#refusedBytes = Math.min(body.length, this.#refusedBytes)
        parts.unshift(part)
        continue
      }
      const refused = faults ?? new Map(events.map((_, index) => [index, reasonOf(result)]))
      sent.rejected += refused.size
      this.#report(events, [...refused])
      const left = events.filter((_, index) => !refused.has(index))
      parts.unshift(...partOf(left, key, round + 1))
    }
    return sent
  }

  /** Returns the answer of the Hub, or its final refusal of the whole request. */
  async #untilAnswered(
    json: Uint8Array,
    idempotencyKey: string,
    signal: AbortSignal,
    keepalive: boolean,
  ): Promise<BatchResult | HubError | undefined> {
    for (let retry = 0; ; retry += 1) {
      try {
        // The platform may refuse it for other requests that outlive the page.
        const sending = { json, idempotencyKey, retries: 0, signal, isBackground: true }
        const request = { ...sending, keepalive: keepalive && retry === 0 }
        const result = await this.#transport.json<BatchResult>('POST', '/api/v1/telemetry/events:batch', request)
        if (!isBatchResult(result)) throw notOfTheHub()
        this.#reports.lastError = undefined
        return result
      } catch (error) {
        if (signal.aborted) return undefined
        // A proxy answers without a problem document, and knows nothing of the events but their size.
        const isFinal = error instanceof HubError && (error.status === 413 || error.slug !== 'unknown')
        if (isFinal && permanent.includes(error.status)) return error
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

/** Returns false for the response of a proxy or of another service, which may be JSON, too. */
function isBatchResult(result: Partial<BatchResult> | null | undefined): boolean {
  return Number.isInteger(result?.accepted) && Number.isInteger(result?.failed)
}

function notOfTheHub(): HubConnectionError {
  const cause = new TypeError('The response has no counts of events')
  return new HubConnectionError(`Cannot reach the Hub: ${cause.message}`, { cause })
}

function reasonOf({ status, slug, message }: HubError): string {
  return status === 413 && slug === 'unknown' ? 'A proxy refused the event as too large (413)' : message
}

/** Returns the refused events of a stored batch by index. A response has the reasons of the first ones only. */
function rejectionsOf(result: StoredResult, count: number): ReadonlyMap<number, string> {
  const { errors = [], failed } = result
  const rejections = new Map<number, string>(errors.map(({ index, title, detail }) => [index, `${title}: ${detail}`]))
  const receipts = result.records ?? result.events
  if (rejections.size >= failed || !receipts) return rejections
  const stored = new Set(receipts.map(({ index }) => index))
  for (let index = 0; index < count; index += 1)
    if (!stored.has(index) && !rejections.has(index)) rejections.set(index, unlisted)
  return rejections
}

const unlisted = 'The Hub refused the event. Its response lists the reasons of other events of the batch only'

/** Returns the refused events by index, if the refusal of a request names some. */
function faultsOf(error: HubError, count: number): ReadonlyMap<number, string> | undefined {
  const named = error.errors.flatMap(({ pointer, detail }) => {
    const index = Number(/^\/events\/(\d{1,4})(\/|$)/.exec(pointer)?.[1])
    return index < count ? [[index, `${pointer} ${detail}`] as const] : []
  })
  return named.length === 0 ? undefined : new Map(named)
}
