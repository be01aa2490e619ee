import { merkleRoot, type Sha256, type Subtree, subtreesOf, TreeBuilder } from '../../../provenance/index.ts'

/**
 * Height of a tile. In the storage format C2SP tlog-tiles, tile n of level l contains the roots of complete subtrees of
 * height 8 l.
 */

const tileHeight = 8
const tileWidth = 2 ** tileHeight
const hashBytes = 32

export interface TileKey {
  level: number
  tileIndex: number
}

export interface Tile extends TileKey {
  /** Up to 256 hashes of 32 bytes, concatenated. */
  hashes: Uint8Array
}

/** Signals that the stored tree was altered. */
export class LogCorruptionError extends Error {
  override readonly name = 'LogCorruptionError'
}

/** Holds some tiles of a tree, and computes the roots of subtrees from them. */
export class Tiles {
  readonly #tiles: ReadonlyMap<string, Uint8Array>
  readonly #sha256: Sha256

  constructor(tiles: readonly Tile[], sha256: Sha256) {
    this.#tiles = new Map(tiles.map((tile) => [nameOf(tile), tile.hashes]))
    this.#sha256 = sha256
  }

  /**
   * Returns consecutive hashes of a level, all in one tile. Throws {@link LogCorruptionError} if the tile lacks them.
   */
  hashes(level: number, first: number, count: number): Uint8Array[] {
    const key = { level, tileIndex: Math.floor(first / tileWidth) }
    const hashes = this.#tiles.get(nameOf(key))
    const start = first % tileWidth
    if (hashes === undefined || hashes.length < (start + count) * hashBytes) {
      throw new LogCorruptionError(`tile ${key.tileIndex} of level ${level} does not have hash ${start + count - 1}`)
    }
    return Array.from({ length: count }, (_, i) =>
      hashes.subarray((start + i) * hashBytes, (start + i + 1) * hashBytes),
    )
  }

  rootOf(subtree: Subtree): Uint8Array {
    const { level, first, count } = placeOf(subtree)
    return merkleRoot(this.hashes(level, first, count), this.#sha256)
  }
}

/** Returns the tiles from which the roots of the subtrees can be computed, without duplicates. */
export function tilesUnder(subtrees: readonly Subtree[]): TileKey[] {
  const keys = new Map<string, TileKey>()
  for (const subtree of subtrees) {
    const { level, first } = placeOf(subtree)
    const key = { level, tileIndex: Math.floor(first / tileWidth) }
    keys.set(nameOf(key), key)
  }
  return [...keys.values()]
}

/** Returns the tiles that contain the leaves from `from` to `to` (exclusive). */
export function tilesOfLeaves(from: number, to: number): TileKey[] {
  const keys: TileKey[] = []
  for (let tileIndex = Math.floor(from / tileWidth); tileIndex * tileWidth < to; tileIndex++) {
    keys.push({ level: 0, tileIndex })
  }
  return keys
}

/** Returns the leaves from `from` to `to` (exclusive). */
export function leavesIn(tiles: Tiles, from: number, to: number): Uint8Array[] {
  return tilesOfLeaves(from, to).flatMap(({ tileIndex }) => {
    const first = Math.max(from, tileIndex * tileWidth)
    return tiles.hashes(0, first, Math.min(to, (tileIndex + 1) * tileWidth) - first)
  })
}

/** Computes the growing edge of a tree from the last tile of each level. */
export class TreeEdge {
  readonly #size: number
  readonly #tiles: Tiles
  readonly #sha256: Sha256

  /** @param tiles the tiles of {@link edgeTiles} */
  constructor(size: number, tiles: Tiles, sha256: Sha256) {
    this.#size = size
    this.#tiles = tiles
    this.#sha256 = sha256
  }

  root(): Uint8Array {
    return this.#builder().root()
  }

  /** Returns the tiles that change when the leaves are added, and the resulting root of the tree. */
  extended(leaves: readonly Uint8Array[]): { tiles: Tile[]; root: Uint8Array } {
    const builder = this.#builder()
    for (const leaf of leaves) builder.append(leaf)
    return { tiles: this.#changedTiles(leaves), root: builder.root() }
  }

  #builder(): TreeBuilder {
    const builder = new TreeBuilder(this.#sha256)
    for (const subtree of subtreesOf(0, this.#size)) builder.append(this.#tiles.rootOf(subtree), subtree.height)
    return builder
  }

  #changedTiles(leaves: readonly Uint8Array[]): Tile[] {
    const changed: Tile[] = []
    let count = this.#size
    for (let level = 0, added = [...leaves]; added.length > 0; level++) {
      const tileIndex = Math.floor(count / tileWidth)
      const there = count % tileWidth
      const hashes = there === 0 ? added : [...this.#tiles.hashes(level, count - there, there), ...added]
      const complete: Uint8Array[] = []
      for (let at = 0; at < hashes.length; at += tileWidth) {
        const some = hashes.slice(at, at + tileWidth)
        changed.push({ level, tileIndex: tileIndex + at / tileWidth, hashes: Buffer.concat(some) })
        if (some.length === tileWidth) complete.push(merkleRoot(some, this.#sha256))
      }
      added = complete
      count = tileIndex
    }
    return changed
  }
}

/** Returns the last tile of each level that is not full. They determine the root of the tree and its growth. */
export function edgeTiles(size: number): TileKey[] {
  return tilesUnder(subtreesOf(0, size))
}

/**
 * Returns the hashes that determine the root of a subtree. Their number is a power of two below 256, so all are in one
 * tile.
 */
function placeOf({ height, index }: Subtree): { level: number; first: number; count: number } {
  const level = Math.floor(height / tileHeight)
  const count = 2 ** (height - level * tileHeight)
  return { level, first: index * count, count }
}

function nameOf({ level, tileIndex }: TileKey): string {
  return `${level}/${tileIndex}`
}
