import type { ServerResponse } from 'node:http'
import { DomainError } from '../../contract/domain-error.ts'

/** Smaller bodies are not worth counting: the number of connections bounds them well enough. */
const countedBytesMin = 16 * 1024

/** Bounds the memory of large bodies: those of requests that have not been answered, inflated ones too. */
export interface BodyBudget {
  /**
   * Counts bytes of the body of a request until it has been answered, or its connection is gone.
   *
   * @throws DomainError `hub-unavailable` when too much is held already; a body is always taken where it is the only one
   */
  hold(answer: ServerResponse, bytes: number): void
}

export function createBodyBudget(bytesMax: number): BodyBudget {
  let held = 0
  return {
    hold(answer, bytes) {
      if (bytes < countedBytesMin || answer.closed) return
      if (held > 0 && held + bytes > bytesMax) {
        throw new DomainError('hub-unavailable', 'More is being sent than can be held just now. Try again shortly.', {
          retryAfterSeconds: 1,
        })
      }
      held += bytes
      answer.once('close', () => {
        held -= bytes
      })
    },
  }
}
