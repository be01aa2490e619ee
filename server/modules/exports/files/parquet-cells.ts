import type { ColumnSource } from 'hyparquet-writer'
import type { ColumnType } from '../../../../contract/export-columns.ts'

export type Cell = string | number | bigint | boolean | null

/**
 * Holds the cells of a column while their row group grows. They live just long enough for the garbage collector to
 * promote them, so as little of them as possible is on the heap.
 */
export interface Cells {
  readonly length: number
  push(cell: Cell): void
  /** Returns all cells so far, in the form for writing; valid until the next push. The next group begins empty. */
  take(): unknown[]
}

/**
 * Returns the data of a column, which the writer requests when it reaches the column: the values of all columns at once
 * would exceed everything else in memory.
 */
export function dataOf(cells: Cells): ColumnSource['data'] {
  const data = { length: cells.length, slice: () => cells.take() }
  return data as unknown as unknown[]
}

/**
 * Creates the cells of a column.
 *
 * @param isRepeated whether most texts occur in earlier rows
 */
export function cellsOf(type: ColumnType, isRepeated: boolean): Cells {
  switch (type) {
    case 'text':
    case 'json':
      return isRepeated ? new SharedTexts() : new TextBytes()
    case 'integer':
      return new Integers()
    default:
      return new CellList()
  }
}

class CellList implements Cells {
  protected cells: Cell[] = []

  get length(): number {
    return this.cells.length
  }

  push(cell: Cell): void {
    this.cells.push(cell)
  }

  take(): Cell[] {
    const taken = this.cells
    this.cells = []
    return taken
  }
}

/** Stores integers as small numbers, which are no objects, until they are written. */
class Integers extends CellList {
  override take(): Cell[] {
    return super.take().map((cell) => (cell === null ? null : BigInt(cell as number)))
  }
}

/** Maximum number of distinct texts to share; a column with more is not repeated. */
const sharedMax = 1000

/** Stores each distinct text once. */
class SharedTexts extends CellList {
  readonly #known = new Map<string, string>()

  override push(cell: Cell): void {
    super.push(typeof cell === 'string' ? this.#shared(cell) : cell)
  }

  #shared(text: string): string {
    const known = this.#known.get(text)
    if (known === undefined && this.#known.size < sharedMax) this.#known.set(text, text)
    return known ?? text
  }
}

const firstBytes = 64 * 1024
const none = -1

/** Stores texts as UTF-8, outside of the heap. */
class TextBytes implements Cells {
  #bytes = Buffer.allocUnsafeSlow(firstBytes)
  #size = 0
  #ends: number[] = []

  get length(): number {
    return this.#ends.length
  }

  push(cell: Cell): void {
    if (cell === null) {
      this.#ends.push(none)
      return
    }
    const text = String(cell)
    this.#makeRoom(3 * text.length)
    this.#size += this.#bytes.write(text, this.#size)
    this.#ends.push(this.#size)
  }

  take(): (Uint8Array | null)[] {
    let start = 0
    const taken = this.#ends.map((end) => {
      if (end === none) return null
      const cell = this.#bytes.subarray(start, end)
      start = end
      return cell
    })
    this.#ends = []
    this.#size = 0
    return taken
  }

  #makeRoom(bytes: number): void {
    const needed = this.#size + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, needed))
    this.#bytes.copy(larger, 0, 0, this.#size)
    this.#bytes = larger
  }
}
