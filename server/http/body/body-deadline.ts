import type { IncomingMessage } from 'node:http'
import { DomainError } from '../../../contract/domain-error.ts'

/** Milliseconds from the response that a body was too slow to the end of its connection. */
const lingerMs = 1000
const bytesPerSecondMin = 32 * 1024

/**
 * Ends bodies that arrive too slowly: a body has a fixed time, and one more second for each 32 KiB that have arrived. A
 * body at that rate, or faster, has only the time limit of every request.
 */
export class BodyDeadline {
  readonly #graceMs: number
  readonly #watched = new WeakSet<IncomingMessage>()

  constructor(graceMs: number) {
    this.#graceMs = graceMs
  }

  /**
   * Watches an incomplete body, whether or not anybody reads it. If it is too slow, closes its connection.
   *
   * @returns a promise that rejects with the error for a body that is too slow, and never resolves; undefined for a
   * complete body, or one that is already watched
   */
  watch(body: IncomingMessage): Promise<never> | undefined {
    // Injected requests have no connection to wait for.
    if (body.complete !== false || this.#watched.has(body)) return undefined
    this.#watched.add(body)
    const { socket } = body
    const begunAtMs = performance.now()
    // Bytes that came with the headers count too.
    const bytesBefore = socket.bytesRead - body.readableLength
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => {})
    const check = () => {
      if (body.complete || body.destroyed) return
      const arrivedMs = ((socket.bytesRead - bytesBefore) / bytesPerSecondMin) * 1000
      const leftMs = begunAtMs + this.#graceMs + arrivedMs - performance.now()
      if (leftMs > 0) {
        timer = setTimeout(check, Math.ceil(leftMs)).unref()
        return
      }
      reject(this.#tooSlow())
      setTimeout(() => socket.destroy(), lingerMs).unref()
    }
    let timer = setTimeout(check, this.#graceMs).unref()
    body.once('close', () => clearTimeout(timer))
    return promise
  }

  #tooSlow(): DomainError {
    const rule = `within ${this.#graceMs / 1000} s, and 1 s more for each ${bytesPerSecondMin / 1024} KiB`
    return new DomainError('validation-failed', `The body did not arrive in time: it must be complete ${rule}.`, {
      errors: [],
    })
  }
}
