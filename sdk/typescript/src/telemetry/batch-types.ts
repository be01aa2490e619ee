/** A batch of events, each a line of JSON. Its lines never change once it is sealed, so its key identifies them. */
export interface StoredBatch {
  /** The idempotency key of the request. */
  readonly key: string
  /** Returns the lines, when all of them are stored. */
  lines(): Promise<string[]>
  /** Forgets the batch. */
  remove(): Promise<void>
}

/** The batch that takes events. */
export interface OpenBatch extends StoredBatch {
  /** Stores a line. Resolves when it is as safe as the store makes it. */
  add(line: string, bytes: number): Promise<void>
  /** Ends the batch: nothing is added any more. */
  seal(): void
}

/** Keeps batches until they are sent: in memory or on disk. */
export interface BatchStore {
  /** Returns true if an event of this size fits. */
  hasRoom(bytes: number): boolean
  open(): OpenBatch
  /** Releases what the store holds. Batches on disk stay. */
  close(): Promise<void>
  /** True if unsent batches outlive the process. */
  readonly isDurable: boolean
}
