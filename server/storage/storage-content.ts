import type { Readable } from 'node:stream'
import { storageFailed } from './storage-errors.ts'

/** Tells what went wrong in the content from what went wrong where it was written to. */
class ContentError extends Error {}

/** What is to be written, in pieces. What a stream ends with comes out of it as it is, see {@link failureOf}. */
export function contentOf(content: Readable | Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  // It may break off before anybody reads of it.
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

/** What a write throws: the error of the content, which is the caller's own, or that the storage has failed. */
export function failureOf(error: unknown): unknown {
  return error instanceof ContentError ? error.cause : storageFailed(error)
}
