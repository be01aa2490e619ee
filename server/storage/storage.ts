import type { Readable } from 'node:stream'

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
