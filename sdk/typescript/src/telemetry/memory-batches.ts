import { newRequestId } from '../request-id.ts'
import type { BatchStore, OpenBatch } from './batch-types.ts'

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

  constructor(bounds: MemoryBounds, onRoom: () => void) {
    this.#bounds = bounds
    this.#onRoom = onRoom
  }

  hasRoom(bytes: number): boolean {
    return this.#events < this.#bounds.maxBufferedEvents && this.#bytes + bytes <= this.#bounds.maxBufferedBytes
  }

  open(): OpenBatch {
    const lines: string[] = []
    let size = 0
    return {
      key: newRequestId(),
      add: async (line, bytes) => {
        lines.push(line)
        size += bytes
        this.#events += 1
        this.#bytes += bytes
      },
      seal: () => undefined,
      lines: async () => lines,
      remove: async () => {
        this.#events -= lines.length
        this.#bytes -= size
        this.#onRoom()
      },
    }
  }

  async close(): Promise<void> {}
}
