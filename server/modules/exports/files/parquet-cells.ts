import type { ColumnSource } from 'hyparquet-writer'

export type Cell = string | number | bigint | boolean | null

/** The cells of a column while their row group grows. */
export interface Cells {
  push(cell: Cell): void
  /** All so far; the next begin empty. */
  take(): ColumnSource['data']
}

export class CellList implements Cells {
  #cells: Cell[] = []

  push(cell: Cell): void {
    this.#cells.push(cell)
  }

  take(): Cell[] {
    const taken = this.#cells
    this.#cells = []
    return taken
  }
}

const firstBytes = 256 * 1024

/**
 * Long texts as UTF-8, outside of the heap: as strings they would live just long enough for the garbage collector to take
 * them for something that stays.
 */
export class TextCells implements Cells {
  #bytes = Buffer.allocUnsafeSlow(firstBytes)
  #size = 0
  #ends: number[] = []

  push(cell: Cell): void {
    const text = String(cell)
    const sizeMax = this.#size + 3 * text.length
    if (sizeMax > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, sizeMax))
      this.#bytes.copy(larger, 0, 0, this.#size)
      this.#bytes = larger
    }
    this.#size += this.#bytes.write(text, this.#size)
    this.#ends.push(this.#size)
  }

  /** They are good until the next one is pushed. */
  take(): Uint8Array[] {
    let start = 0
    const taken = this.#ends.map((end) => {
      const cell = this.#bytes.subarray(start, end)
      start = end
      return cell
    })
    this.#ends = []
    this.#size = 0
    return taken
  }
}
