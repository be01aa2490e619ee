import { MalformedToken } from '../access-token.ts'
import { HubError } from '../hub-error.ts'
import { HubConnectionError } from '../retry.ts'
import type { RejectedEvent } from './batch-sender.ts'
import { TelemetryBufferError } from './batch-types.ts'

/** The functions of the application that receive reports. */
export interface ReportHandlers {
  onRejected?: ((rejected: readonly RejectedEvent[]) => void) | undefined
  onError?: ((error: unknown) => void) | undefined
}

/** Reports errors and refused events to the application. A handler that throws changes nothing for the events. */
export class Reports {
  /** The last error; undefined once the Hub takes events again. */
  lastError: unknown
  readonly #handlers: ReportHandlers
  readonly #warned = new Set<string>()

  constructor(handlers: ReportHandlers) {
    this.#handlers = handlers
  }

  /** Reports events that the Hub refused. Warns once if nobody receives them. */
  rejected(rejected: readonly RejectedEvent[]): void {
    const { onRejected } = this.#handlers
    if (onRejected) run(() => onRejected(rejected), this.error.bind(this))
    else this.#warn('rejected', `The Hub refused events: ${rejected[0]?.reason}. telemetry.onRejected receives them`)
  }

  /** Reports an error. Warns once for each kind of error if nobody receives it. */
  error(error: unknown): void {
    this.lastError = error
    const { onError } = this.#handlers
    const words = wordsOf(error)
    if (!onError) this.#warn(kindOf(error), `${words}. telemetry.onError receives all errors`)
    else
      run(
        () => onError(error),
        (thrown) => this.#warn('handler', `telemetry.onError threw: ${kindOf(thrown)}`),
      )
  }

  #warn(kind: string, words: string): void {
    if (this.#warned.has(kind)) return
    this.#warned.add(kind)
    console.warn(`Org-Memory Hub SDK, telemetry: ${words}.`)
  }
}

/** Runs a handler at once. Also catches what an asynchronous one throws later. */
function run(handler: () => unknown, onThrow: (error: unknown) => void): void {
  void (async () => handler())().catch(onThrow)
}

/** The errors whose messages have no secrets. */
const own = [HubError, TelemetryBufferError, MalformedToken]

/** Returns words about an error that have no secrets: those of the platform may quote what it refuses. */
export function wordsOf(error: unknown): string {
  if (own.some((kind) => error instanceof kind)) return (error as Error).message
  if (error instanceof HubConnectionError) return `Cannot reach the Hub: ${kindOf(error.cause)}`
  return kindOf(error)
}

/** Returns the class of an error, and its status or code. */
function kindOf(error: unknown): string {
  if (error instanceof HubError) return `HubError ${error.status} ${error.slug}`
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  return [name, code].filter((each) => typeof each === 'string').join(' ') || typeof error
}
