import { merkleRoot } from '../../../../provenance/index.ts'
import { nodeCrypto } from '../../../records/node-crypto.ts'

const tileWidth = 256
const hashBytes = 32

/**
 * Computes the upper tiles from the lowest ones. A tile is returned when its 256 hashes are complete, and the last one
 * of each level at the end. Holds one tile per level.
 */
export class ExpectedTiles {
  readonly #levels: { done: number; hashes: Uint8Array[] }[] = []

  /** Adds the leaves of a whole tile of level 0. Returns the upper tiles that they complete. */
  add(leaves: readonly Uint8Array[]): ExpectedTile[] {
    const due: ExpectedTile[] = []
    let root = merkleRoot(leaves, nodeCrypto.sha256)
    for (let level = 1; ; level += 1) {
      const at = this.#levels[level] ?? { done: 0, hashes: [] }
      this.#levels[level] = at
      at.hashes.push(root)
      if (at.hashes.length < tileWidth) return due
      due.push({ level, tileIndex: at.done, hashes: Buffer.concat(at.hashes) })
      root = merkleRoot(at.hashes, nodeCrypto.sha256)
      this.#levels[level] = { done: at.done + 1, hashes: [] }
    }
  }

  /** Returns the last tile of each upper level that is incomplete. */
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

/**
 * Returns the problem of a stored tile, or undefined. Additional hashes are permitted, because the log may have grown
 * meanwhile.
 */
export function tileProblem(expected: Uint8Array, stored: Uint8Array | undefined): string | undefined {
  if (stored === undefined) return 'it is missing'
  if (stored.length < expected.length) {
    return `it has ${stored.length / hashBytes} hashes instead of ${expected.length / hashBytes}`
  }
  return Buffer.compare(stored.subarray(0, expected.length), expected) === 0
    ? undefined
    : 'its hashes do not follow from the tiles below it'
}

/** Returns the number of hashes on each level of a tree, from the lowest up. */
export function hashesOfLevels(treeSize: number): number[] {
  const counts: number[] = []
  for (let count = treeSize; count > 0; count = Math.floor(count / tileWidth)) counts.push(count)
  return counts
}
