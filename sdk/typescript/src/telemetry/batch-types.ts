/**
 * Thrown by `track` if the buffer stays full, the batcher is closed, or another client uses the spool. Reported to `onError`
 * if the spool cannot send a file.
 */
export class TelemetryBufferError extends Error {
  override readonly name: string = 'TelemetryBufferError'
}

/** Reported if another program deleted the file of a batch: its events are lost. */
export class EventsLost extends TelemetryBufferError {}

/** A batch of events. They never change once it is sealed, so its key identifies them. */
export interface StoredBatch {
  /** The idempotency key of the request. */
  readonly key: string
  /** Returns the JSON of a request with the events, when all of them are stored; undefined without events. Throws {@link EventsLost}. */
  body(): Promise<Uint8Array | undefined>
  /** Forgets the batch. */
  remove(): Promise<void>
}

/** The batch that takes events. */
export interface OpenBatch extends StoredBatch {
  /** Stores an event, which is JSON. Resolves when it is as safe as the store makes it. */
  add(line: string, byteLength: number): Promise<void>
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
