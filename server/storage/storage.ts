import type { Readable } from 'node:stream'

/**
 * Files that are no rows: exports, and what is kept apart from the database. Keys are paths of letters, digits, `-`,
 * `_`, `.` and `/`. Errors of the storage become DomainError `hub-unavailable`.
 */
export interface Storage {
  /** Replaces what is there; nothing is there until all of it has been written. */
  write(key: string, content: Readable | Uint8Array): Promise<void>
  /** From `start` to `end`, both included; undefined where there is no such file. */
  read(key: string, range?: { start: number; end: number }): Promise<Readable | undefined>
  /** In bytes; undefined where there is no such file. */
  size(key: string): Promise<number | undefined>
  /**
   * Nothing happens where there is no such file. Goes, too: what is being written, or was left behind by a process that
   * died while it wrote, of this key and of those that go on from it after a `.`; whoever still writes it fails.
   */
  delete(key: string): Promise<void>
  /** Keys that begin with the prefix, a folder that ends in `/`, in any order. */
  list(prefix: string): AsyncIterable<string>
  /** In words, for messages: a directory or a bucket. */
  readonly place: string
}
