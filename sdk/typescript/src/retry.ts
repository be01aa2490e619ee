import { HubError } from './hub-error.ts'

export interface RetryPolicy {
  /** Retries after the first attempt; 0 disables them. */
  retries: number
  /** Maximum seconds of a `Retry-After` that a call waits. A longer one makes the call fail at once. */
  retryAfterMaxSeconds: number
}

const firstPauseMs = 250
const pauseMsMax = 20_000
/** Statuses of a request that may have been executed. 429 means that it was not. */
const ambiguous: readonly number[] = [408, 502, 503, 504]

/** Errors that were retried already, by a call inside of another: the request for a token. */
const exhausted = new WeakSet<Error>()

/**
 * Runs an attempt until it succeeds, a retry cannot help, or the policy is exhausted. Retries refusals by a rate limit,
 * and other transient failures only if `idempotent`. Rethrows the last error.
 *
 * @param idempotent true if sending the request again does no harm
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  { retries, retryAfterMaxSeconds }: RetryPolicy,
  idempotent: boolean,
  signal: AbortSignal | undefined,
  timers: { unref?: boolean } = {},
): Promise<Result> {
  for (let retry = 0; ; retry += 1) {
    try {
      return await attempt()
    } catch (error) {
      signal?.throwIfAborted()
      const seconds = error instanceof HubError ? (error.retryAfter ?? 0) : 0
      if (retry >= retries || seconds > retryAfterMaxSeconds || !isTransient(error, idempotent)) {
        if (error instanceof Error) exhausted.add(error)
        throw error
      }
      await pause(seconds * 1000 + jitteredMs(retry), signal, timers)
    }
  }
}

/** Returns a random pause from 0 to the backoff of a retry ("full jitter"), so that clients do not retry together. */
export function jitteredMs(retry: number, max = pauseMsMax): number {
  return Math.random() * Math.min(max, firstPauseMs * 2 ** retry)
}

/** Thrown if the Hub cannot be reached, or does not respond in time. `cause` has the error of the platform. */
export class HubConnectionError extends Error {
  override readonly name: string = 'HubConnectionError'
}

function isTransient(error: unknown, idempotent: boolean): boolean {
  if (error instanceof Error && exhausted.has(error)) return false
  if (error instanceof HubError) return error.status === 429 || (idempotent && ambiguous.includes(error.status))
  return idempotent && error instanceof HubConnectionError
}

/** Waits. Rejects with the reason of the signal if that aborts first. With `unref`, the process may end meanwhile. */
export function pause(ms: number, signal?: AbortSignal, { unref = false } = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    if (unref) unrefTimer(timer)
    signal?.addEventListener('abort', end, { once: true })
  })
}

/** Waits for a promise. Rejects with the reason of the signal if that aborts first. */
export function unlessAborted<Result>(promise: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

/** Lets the process end although a timer runs, where the platform can. */
export function unrefTimer(timer: unknown): void {
  ;(timer as { unref?: () => void }).unref?.()
}
