import type { Readable } from 'node:stream'
import { storageFailed } from './storage-errors.ts'

/** Distinguishes errors of the content from errors of its destination. */
class ContentError extends Error {}

/** Yields the content in pieces. An error of a stream keeps its identity (see {@link failureOf}). */
export function contentOf(content: Readable | Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  // The stream may fail before anybody reads it.
  if (!(content instanceof Uint8Array)) content.on('error', () => {})
  return pieces(content)
}

async function* pieces(content: Readable | Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  if (content instanceof Uint8Array) {
    yield content
    return
  }
  try {
    for await (const piece of content as AsyncIterable<Uint8Array | string>) {
      yield typeof piece === 'string' ? Buffer.from(piece) : piece
    }
  } catch (cause) {
    throw new ContentError('the content broke off', { cause })
  }
}

/**
 * Returns the error of a failed write: the error of the content, which is the caller's own, or that the storage has
 * failed.
 */
export function failureOf(error: unknown): unknown {
  return error instanceof ContentError ? error.cause : storageFailed(error)
}
