import { merkleRoot } from '../../../../provenance/index.ts'
import { logCrypto } from '../log-crypto.ts'

const tileWidth = 256
const hashBytes = 32

/**
 * The upper tiles as they follow from the lowest ones: a tile is due when its 256 hashes are complete, and the last of
 * each level at the end. Holds one tile of each level.
 */
export class ExpectedTiles {
  readonly #levels: { done: number; hashes: Uint8Array[] }[] = []

  /** Adds the leaves of a whole tile of level 0, and answers the upper tiles that are complete with it. */
  add(leaves: readonly Uint8Array[]): ExpectedTile[] {
    const due: ExpectedTile[] = []
    let root = merkleRoot(leaves, logCrypto.sha256)
    for (let level = 1; ; level += 1) {
      const at = this.#levels[level] ?? { done: 0, hashes: [] }
      this.#levels[level] = at
      at.hashes.push(root)
      if (at.hashes.length < tileWidth) return due
      due.push({ level, tileIndex: at.done, hashes: Buffer.concat(at.hashes) })
      root = merkleRoot(at.hashes, logCrypto.sha256)
      this.#levels[level] = { done: at.done + 1, hashes: [] }
    }
  }

  /** The last tile of each upper level, where it is not complete. */
  rest(): ExpectedTile[] {
    return this.#levels.flatMap((at, level) =>
      at && at.hashes.length > 0 ? [{ level, tileIndex: at.done, hashes: Buffer.concat(at.hashes) }] : [],
    )
  }
}

export interface ExpectedTile {
  level: number
  tileIndex: number
  hashes: Buffer
}

/** What is wrong with a stored tile. One that has grown meanwhile has more, which is not. */
export function tileProblem(expected: Uint8Array, stored: Uint8Array | undefined): string | undefined {
  if (stored === undefined) return 'it is gone'
  if (stored.length < expected.length) {
    return `it has ${stored.length / hashBytes} hashes instead of ${expected.length / hashBytes}`
  }
  return Buffer.compare(stored.subarray(0, expected.length), expected) === 0
    ? undefined
    : 'its hashes do not follow from the tiles below it'
}

/** Hashes that each level of a tree has, from the lowest on. */
export function hashesOfLevels(treeSize: number): number[] {
  const counts: number[] = []
  for (let count = treeSize; count > 0; count = Math.floor(count / tileWidth)) counts.push(count)
  return counts
}
