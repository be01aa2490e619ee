import type { Readable } from 'node:stream'
import { DomainError, storageFull } from '../../contract/domain-error.ts'

/**
 * Stores files that are no rows: exports, and data kept apart from the database. Keys are paths of letters, digits,
 * `-`, `_`, `.` and `/`. Errors of the storage become DomainError `hub-unavailable`.
 */
export interface Storage {
  /** Writes or replaces a file. The new content appears only when all of it has been written. */
  write(key: string, content: Readable | Uint8Array): Promise<void>
  /** Reads from `start` to `end`, both included; returns undefined for a missing file. */
  read(key: string, range?: { start: number; end: number }): Promise<Readable | undefined>
  /** Returns the size in bytes; undefined for a missing file. */
  size(key: string): Promise<number | undefined>
  /**
   * Deletes a file, if it exists. Also deletes unfinished writes, active or abandoned, of this key and of keys that
   * continue it after a `.`; active writers then fail.
   */
  delete(key: string): Promise<void>
  /** Lists keys that begin with the prefix, a folder that ends in `/`, in any order. */
  list(prefix: string): AsyncIterable<string>
  /** The directory or bucket, worded for messages. */
  readonly place: string
}

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
    throw new ContentError('the content ended early', { cause })
  }
}

/**
 * Returns the error of a failed write: the error of the content, which is the caller's own, or that the storage has
 * failed.
 */
export function failureOf(error: unknown): unknown {
  return error instanceof ContentError ? error.cause : storageFailed(error)
}

const keyPattern = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*(\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$/

/**
 * Validates a key.
 *
 * @throws Error for a key that is no path of names, or has a name that begins with a dot
 */
export function checkKey(key: string): void {
  if (key.length > 900 || !keyPattern.test(key)) throw new Error(`"${key}" cannot be the key of a stored file`)
}

/** Returns the error for a caller when the storage fails. Its place and reason are for the operator, in the log. */
export function storageFailed(cause: unknown): unknown {
  if (cause instanceof DomainError) return cause
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT') return storageFull('files', { cause })
  return new DomainError('hub-unavailable', 'The file storage is unavailable at the moment. Try again shortly.', {
    retryAfterSeconds: 10,
    cause,
  })
}
