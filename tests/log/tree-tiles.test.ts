import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toHex } from '../../provenance/bytes.ts'
import { consistencyPath, inclusionPath, joinRoots, merkleRoot, subtreesOf } from '../../provenance/index.ts'
import { consistencyRanges, inclusionRanges, type LeafRange } from '../../server/modules/log/tree-reading.ts'
import {
  edgeTiles,
  LogCorruptionError,
  type Tile,
  Tiles,
  TreeEdge,
  tilesUnder,
} from '../../server/modules/log/tree-tiles.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'

const { sha256 } = nodeCrypto
const leafOf = (index: number) => sha256(Buffer.from(`leaf ${index}`))
const leaves = Array.from({ length: 70_000 }, (_, i) => leafOf(i))

/** What is stored of a tree that grew in steps of those sizes. */
function grown(steps: readonly number[]): { tiles: Map<string, Tile>; root: Uint8Array; size: number } {
  const stored = new Map<string, Tile>()
  const keyOf = ({ level, tileIndex }: { level: number; tileIndex: number }) => `${level}/${tileIndex}`
  let size = 0
  let root = merkleRoot([], sha256)
  for (const step of steps) {
    const known = edgeTiles(size).flatMap((key) => stored.get(keyOf(key)) ?? [])
    const edge = new TreeEdge(size, new Tiles(known, sha256), sha256)
    expect(toHex(edge.root())).toBe(toHex(root))
    const extended = edge.extended(leaves.slice(size, size + step))
    for (const tile of extended.tiles) stored.set(keyOf(tile), tile)
    root = extended.root
    size += step
  }
  return { tiles: stored, root, size }
}

const hashesOf = (stored: Map<string, Tile>, ranges: readonly LeafRange[]) => {
  const subtrees = ranges.map(({ begin, end }) => subtreesOf(begin, end))
  const tiles = new Tiles(
    tilesUnder(subtrees.flat()).flatMap(({ level, tileIndex }) => stored.get(`${level}/${tileIndex}`) ?? []),
    sha256,
  )
  return subtrees.map((some) =>
    toHex(
      joinRoots(
        some.map((subtree) => tiles.rootOf(subtree)),
        sha256,
      ),
    ),
  )
}

describe('tiles', () => {
  test('of a tree of 70,000 are those of the specification', () => {
    const { tiles } = grown([70_000])
    const widths = (level: number) =>
      [...tiles.values()].filter((tile) => tile.level === level).map((tile) => tile.hashes.length / 32)
    expect(widths(0)).toEqual([...Array.from({ length: 273 }, () => 256), 112])
    expect(widths(1)).toEqual([256, 17])
    expect(widths(2)).toEqual([1])
    expect(widths(3)).toEqual([])
  })

  test('are the same however the tree grew, and lead to the root of all its leaves', () => {
    const steps = fc.array(fc.oneof(fc.nat(3), fc.nat(600)), { maxLength: 12 })
    fc.assert(
      fc.property(steps, (some) => {
        const { tiles, root, size } = grown(some)
        expect(toHex(root)).toBe(toHex(merkleRoot(leaves.slice(0, size), sha256)))
        const atOnce = grown([size])
        const text = (of: Map<string, Tile>) => [...of].map(([key, tile]) => `${key} ${toHex(tile.hashes)}`).sort()
        expect(text(tiles)).toEqual(text(atOnce.tiles))
      }),
      { numRuns: 40 },
    )
  })

  test('give every proof of every size that the tree has had', () => {
    const { tiles, size } = grown([1, 300, 255, 44, 1100])
    fc.assert(
      fc.property(fc.integer({ min: 1, max: size }), fc.nat(), fc.nat(), (treeSize, any, other) => {
        const some = leaves.slice(0, treeSize)
        const index = any % treeSize
        expect(hashesOf(tiles, inclusionRanges(index, treeSize))).toEqual(inclusionPath(some, index, sha256).map(toHex))
        const first = 1 + (other % treeSize)
        expect(hashesOf(tiles, consistencyRanges(first, treeSize))).toEqual(
          consistencyPath(some, first, sha256).map(toHex),
        )
      }),
    )
  })

  test('that are missing or cut are no proof', () => {
    const { tiles } = grown([300])
    tiles.delete('0/0')
    expect(() => hashesOf(tiles, [{ begin: 0, end: 2 }])).toThrow(LogCorruptionError)
    tiles.set('0/1', { level: 0, tileIndex: 1, hashes: new Uint8Array(32) })
    expect(() => hashesOf(tiles, [{ begin: 256, end: 258 }])).toThrow(LogCorruptionError)
  })

  test('are few for a proof, beyond 32 bits too', () => {
    const size = 2 ** 50 + 12345
    const ranges = [...inclusionRanges(2 ** 49 + 7, size), ...consistencyRanges(2 ** 40 + 1, size)]
    expect(tilesUnder(ranges.flatMap(({ begin, end }) => subtreesOf(begin, end))).length).toBeLessThan(40)
  })
})
