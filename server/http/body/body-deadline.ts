import type { IncomingMessage } from 'node:http'
import { DomainError } from '../../../contract/domain-error.ts'

/** From the answer that a body was too slow to the end of its connection. */
const lingerMs = 1000
const bytesPerSecondMin = 32 * 1024

/**
 * Ends bodies that arrive too slowly: one has so many seconds, and a second more for each 32 KiB that have come. What
 * arrives at that rate, or faster, has the time that every request has.
 */
export class BodyDeadline {
  readonly #graceMs: number
  readonly #watched = new WeakSet<IncomingMessage>()

  constructor(graceMs: number) {
    this.#graceMs = graceMs
  }

  /**
   * Watches a body of which something is still to come, whoever reads it or leaves it unread. Its connection is closed
   * when it is too slow.
   *
   * @returns rejects with the answer to a body that is too slow, and settles in no other way; undefined where there is
   *   nothing to wait for, or the body is watched already
   */
  watch(body: IncomingMessage): Promise<never> | undefined {
    // Injected requests have no connection to wait for.
    if (body.complete !== false || this.#watched.has(body)) return undefined
    this.#watched.add(body)
    const { socket } = body
    const begunAtMs = performance.now()
    // What came with the headers counts too.
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
