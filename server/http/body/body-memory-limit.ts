import type { ServerResponse } from 'node:http'
import { DomainError } from '../../../contract/domain-error.ts'

/** Minimum bytes of a counted body: the number of connections suffices to bound smaller ones. */
const countedBytesMin = 16 * 1024

/** Bounds the memory of large bodies: the bytes that have arrived, inflated or not, of requests without a response. */
export interface BodyMemoryLimit {
  /**
   * Returns the holder for one request. It holds its bytes until the request has its response, or its connection is
   * closed.
   */
  bodyOf(answer: ServerResponse): HeldBody
}

export interface HeldBody {
  /**
   * Counts further bytes before they are stored. A client that only announces a body, or sends it slowly, holds
   * nothing.
   *
   * @throws DomainError `hub-unavailable` if too much is held already; a single body is always accepted
   */
  hold(bytes: number): void
  /** Releases a discarded body. */
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
              'The service is receiving too many large bodies at the moment. Try again shortly.',
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
