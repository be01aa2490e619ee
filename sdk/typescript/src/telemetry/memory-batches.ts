import { newRequestId } from '../request-id.ts'
import type { BatchStore, OpenBatch } from './batch-types.ts'
import { EventBody } from './event-body.ts'

export interface MemoryBounds {
  maxBufferedEvents: number
  maxBufferedBytes: number
}

/** Keeps batches in memory. They are lost with the process. */
export class MemoryBatches implements BatchStore {
  readonly isDurable = false
  readonly #bounds: MemoryBounds
  readonly #onRoom: () => void
  #events = 0
  #bytes = 0
  /** The length of the last batch. The next one is likely to be about as long. */
  #lastLength = 0

  constructor(bounds: MemoryBounds, onRoom: () => void) {
    this.#bounds = bounds
    this.#onRoom = onRoom
  }

  hasRoom(bytes: number): boolean {
    return this.#events < this.#bounds.maxBufferedEvents && this.#bytes + bytes <= this.#bounds.maxBufferedBytes
  }

  open(): OpenBatch {
    const gathered = new EventBody(Math.ceil(1.1 * this.#lastLength))
    let events = 0
    let size = 0
    let body: Uint8Array | undefined
    return {
      key: newRequestId(),
      add: async (line, byteLength) => {
        gathered.add(line, byteLength)
        events += 1
        size += byteLength
        this.#events += 1
        this.#bytes += byteLength
      },
      seal: () => {
        body = gathered.finish()
        this.#lastLength = gathered.length
      },
      body: async () => body,
      remove: async () => {
        this.#events -= events
        this.#bytes -= size
        this.#onRoom()
      },
    }
  }

  async close(): Promise<void> {}
}
