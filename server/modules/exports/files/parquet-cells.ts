import type { ColumnSource } from 'hyparquet-writer'
import type { ColumnType } from '../../../../contract/export-columns.ts'

export type Cell = string | number | bigint | boolean | null

/**
 * The cells of a column while their row group grows. They live just long enough for the garbage collector to take them for
 * something that stays, so as little as may be of them is on the heap.
 */
export interface Cells {
  readonly length: number
  push(cell: Cell): void
  /** All so far, as they are written; good until the next one is pushed. The next group begins empty. */
  take(): unknown[]
}

/**
 * The data of a column, which the writer asks for once it comes to the column: the values of all columns at once would be
 * more than anything else in memory.
 */
export function dataOf(cells: Cells): ColumnSource['data'] {
  const data = { length: cells.length, slice: () => cells.take() }
  return data as unknown as unknown[]
}

/** @param isRepeated whether most texts are those of earlier rows */
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

/** Small numbers, which are no objects, until they are written. */
class Integers extends CellList {
  override take(): Cell[] {
    return super.take().map((cell) => (cell === null ? null : BigInt(cell as number)))
  }
}

/** Distinct texts that are kept: beyond that they are not so repeated after all. */
const sharedMax = 1000

/** Each text once. */
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

/** Texts as UTF-8, outside of the heap. */
class TextBytes implements Cells {
  #bytes = Buffer.allocUnsafeSlow(firstBytes)
  #size = 0
  /** Where each ends. */
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
