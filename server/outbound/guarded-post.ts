import type { Agent, Dispatcher } from 'undici'
import { traceCall } from '../tracing/current-work.ts'
import type { AddressGuard } from './address-guard.ts'
import { describeNetworkError, OutboundError, outboundErrorIn } from './outbound-error.ts'

/** Limits for the body of a response: bytes and milliseconds that are read, and bytes that are kept. */
const bodyBytesMax = 64 * 1024
const bodyMsMax = 1_000
const bodyBytesKept = 4 * 1024

export interface PostOptions {
  headers: Record<string, string>
  body: Buffer
  signal?: AbortSignal
}

/**
 * Headers by name in lower case. A header that came more than once is a list, `retry-after` too, unlike in `node:http`.
 */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

/** Returns the value of a header; the first if it came more than once. */
export function headerValue(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Any response with a head. A redirect is one too, and is not followed. */
export interface PostResponse {
  status: number
  headers: ResponseHeaders
  /** The first 4 KiB of the body as sent; less if it broke off or took too long. */
  beginning: Buffer
  /** Milliseconds from the call to the head. */
  headMs: number
}

/**
 * Sends one message and waits for the head of the response. It works below `fetch`, which takes three times as long.
 * The connection is kept for the next call if the response ends soon; otherwise it is closed.
 * Throws {@link OutboundError} without a head within `timeoutMs`, or the reason of the signal.
 */
export type Post = (url: string, options: PostOptions) => Promise<PostResponse>

export function createPost(parts: { agent: Agent; guard: AddressGuard; timeoutMs: number }): Post {
  const { agent, guard, timeoutMs } = parts
  const post = async (text: string, { headers, body, signal }: PostOptions): Promise<PostResponse> => {
    const problem = guard.problemOfUrl(text)
    if (problem !== undefined) throw new OutboundError('blocked', problem)
    const url = new URL(text)
    signal?.throwIfAborted()
    const settling = Promise.withResolvers<PostResponse>()
    const call = new Call(timeoutMs, settling)
    const leave = () => call.fail(signal?.reason)
    signal?.addEventListener('abort', leave, { once: true })
    call.ended = () => signal?.removeEventListener('abort', leave)
    const path = url.pathname + url.search
    // Undici's own limits are coarse and start when the request is written.
    const limits = { headersTimeout: 0, bodyTimeout: 0 }
    agent.dispatch({ origin: url.origin, path, method: 'POST', headers, body, ...limits }, call)
    return settling.promise
  }
  return (url, options) =>
    traceCall('POST', url, (added) => post(url, { ...options, headers: { ...options.headers, ...added } }))
}

/** Handles the events of one request. */
class Call implements Dispatcher.DispatchHandler {
  ended: () => void = () => {}
  readonly #beganMs = performance.now()
  readonly #settle: PromiseWithResolvers<PostResponse>
  #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  #isSettled = false
  #head: Omit<PostResponse, 'beginning'> | undefined
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(timeoutMs: number, settle: PromiseWithResolvers<PostResponse>) {
    this.#settle = settle
    const words = `did not respond within ${timeoutMs / 1000} s`
    this.#timer = setTimeout(() => this.fail(new OutboundError('timeout', words)), timeoutMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The call settled while it waited for a connection.
    if (this.#isSettled) this.#cutOff()
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    // A server may send any number of interim responses.
    if (status < 200 || this.#isSettled) return
    clearTimeout(this.#timer)
    this.#head = { status, headers, headMs: performance.now() - this.#beganMs }
    this.#timer = setTimeout(() => this.#answer({ cutOff: true }), bodyMsMax)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return
    if (this.#bytes < bodyBytesKept) this.#chunks.push(chunk.subarray(0, bodyBytesKept - this.#bytes))
    this.#bytes += chunk.byteLength
    if (this.#bytes > bodyBytesMax) this.#answer({ cutOff: true })
  }

  onResponseEnd(): void {
    this.#answer({ cutOff: false })
  }

  onResponseError(_controller: unknown, error: Error): void {
    // Once the head has come, the message was accepted or not. The end of the body does not change that.
    if (this.#head) this.#answer({ cutOff: false })
    else
      this.fail(
        outboundErrorIn(error) ?? new OutboundError('unreachable', describeNetworkError(error), { cause: error }),
      )
  }

  fail(error: unknown): void {
    if (!this.#end()) return
    this.#settle.reject(error)
    this.#cutOff()
  }

  #answer({ cutOff }: { cutOff: boolean }): void {
    const head = this.#head
    if (!head || !this.#end()) return
    this.#settle.resolve({ ...head, beginning: Buffer.concat(this.#chunks) })
    if (cutOff) this.#cutOff()
  }

  /** Ends the call; returns false if it had ended before. */
  #end(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.ended()
    return true
  }

  #cutOff(): void {
    this.#controller?.abort(new Error('the rest of the response is not needed'))
  }
}
