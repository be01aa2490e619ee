import type { ServerResponse } from 'node:http'
import { DomainError } from '../../../contract/domain-error.ts'

/** Smaller bodies are not worth counting: the number of connections bounds them well enough. */
const countedBytesMin = 16 * 1024

/** Bounds the memory of large bodies: what has arrived of those that have not been answered, inflated or not. */
export interface BodyMemoryLimit {
  /** For the body of one request. What it holds is held until the request is answered, or its connection is gone. */
  bodyOf(answer: ServerResponse): HeldBody
}

export interface HeldBody {
  /**
   * Told of further bytes before they are kept. Whoever announces a body, or is slow to send it, holds nothing by that.
   *
   * @throws DomainError `hub-unavailable` when too much is held already; a body is always taken where it is the only one
   */
  hold(bytes: number): void
  /** The body was thrown away. */
  release(): void
}

export function createBodyMemoryLimit(bytesMax: number): BodyMemoryLimit {
  let heldOfAll = 0
  return {
    bodyOf(answer) {
      let arrived = 0
      let held = 0
      const release = () => {
        heldOfAll -= held
        arrived = 0
        held = 0
      }
      return {
        hold(bytes) {
          arrived += bytes
          if (arrived < countedBytesMin || answer.closed) return
          const ofOthers = heldOfAll - held
          if (ofOthers > 0 && ofOthers + arrived > bytesMax) {
            throw new DomainError(
              'hub-unavailable',
              'More is being sent than can be held just now. Try again shortly.',
              {
                retryAfterSeconds: 1,
              },
            )
          }
          if (held === 0) answer.once('close', release)
          heldOfAll = ofOthers + arrived
          held = arrived
        },
        release,
      }
    },
  }
}
