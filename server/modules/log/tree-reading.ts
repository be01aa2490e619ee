import { joinRoots, ProvenanceError, rootOfRange, type Subtree, subtreesOf } from '../../../provenance/index.ts'
import type { TenantTx } from '../../db/database.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import { findTiles } from './log-store.ts'
import type { RangeProof, TenantLogs } from './log-types.ts'
import { LogCorruptionError, leavesIn, Tiles, tilesOfLeaves, tilesUnder } from './tree-tiles.ts'

const { sha256 } = nodeCrypto

/*
 * Each function reads its tiles in one statement: about three tiles per level, regardless of the tree's size. Every size
 * that the log has reached stays provable, because complete subtrees never change. The functions throw
 * `LogCorruptionError` if tiles lack hashes, except `readRange`.
 */

/** Reads PATH(m, D[n]) of RFC 6962 §2.1.1. */
export function readInclusionPath(tx: TenantTx, logIndex: number, treeSize: number): Promise<Uint8Array[]> {
  return readRoots(tx, inclusionRanges(logIndex, treeSize))
}

/** Reads PROOF(m, D[n]) of RFC 6962 §2.1.2, and both roots. */
export async function readConsistency(
  tx: TenantTx,
  from: number,
  to: number,
): Promise<{ path: Uint8Array[]; fromRoot: Uint8Array; toRoot: Uint8Array }> {
  const whole = (end: number) => ({ begin: 0, end })
  const [fromRoot, toRoot, ...path] = await readRoots(tx, [whole(from), whole(to), ...consistencyRanges(from, to)])
  return { path, fromRoot: fromRoot!, toRoot: toRoot! }
}

/** Reads the leaves from `from` to `to` (exclusive). */
export async function readLeaves(tx: TenantTx, from: number, to: number): Promise<Uint8Array[]> {
  if (from >= to) return []
  return leavesIn(new Tiles(await findTiles(tx, tilesOfLeaves(from, to)), sha256), from, to)
}

export async function readRangeProof(tx: TenantTx, from: number, to: number, treeSize: number): Promise<RangeProof> {
  const [before, behind] = [subtreesOf(0, from), subtreesOf(to, treeSize)]
  const tiles = await readTilesUnder(tx, [...before, ...behind])
  return {
    left: before.map((subtree) => tiles.rootOf(subtree)),
    right: behind.map((subtree) => tiles.rootOf(subtree)),
  }
}

/** Works like {@link TenantLogs.range}. */
export async function readRange(tx: TenantTx, from: number, to: number, treeSize: number) {
  try {
    const leaves = await readLeaves(tx, from, to)
    const { left, right } = await readRangeProof(tx, from, to, treeSize)
    return { leaves, root: rootOfRange(from, leaves, left, right, treeSize, sha256) }
  } catch (error) {
    if (error instanceof LogCorruptionError || error instanceof ProvenanceError) return undefined
    throw error
  }
}

/** Reads the hash of the tree over each range. */
async function readRoots(tx: TenantTx, ranges: readonly LeafRange[]): Promise<Uint8Array[]> {
  const parts = ranges.map(({ begin, end }) => subtreesOf(begin, end))
  const tiles = await readTilesUnder(tx, parts.flat())
  return parts.map((subtrees) =>
    joinRoots(
      subtrees.map((subtree) => tiles.rootOf(subtree)),
      sha256,
    ),
  )
}

async function readTilesUnder(tx: TenantTx, subtrees: readonly Subtree[]): Promise<Tiles> {
  return new Tiles(await findTiles(tx, tilesUnder(subtrees)), sha256)
}

/** The leaves from `begin` to `end` (exclusive), whose tree has one hash in a proof. */
export interface LeafRange {
  begin: number
  end: number
}

/** Returns the hashes of PATH(m, D[n]) of RFC 6962 §2.1.1, in its order. The index must be below the size. */
export function inclusionRanges(logIndex: number, treeSize: number): LeafRange[] {
  const ranges: LeafRange[] = []
  for (let width = 1, index = logIndex; width < treeSize; width *= 2, index = Math.floor(index / 2)) {
    const begin = (index % 2 === 0 ? index + 1 : index - 1) * width
    if (begin < treeSize) ranges.push({ begin, end: Math.min(begin + width, treeSize) })
  }
  return ranges
}

/**
 * Returns the hashes of PROOF(m, D[n]) of RFC 6962 §2.1.2, in its order. The first size must not exceed the second;
 * size 0 needs none.
 */
export function consistencyRanges(firstSize: number, secondSize: number): LeafRange[] {
  if (firstSize === 0) return []
  const ranges: LeafRange[] = []
  let [begin, end] = [0, secondSize]
  while (end !== firstSize) {
    let width = 1
    while (width * 2 < end - begin) width *= 2
    const split = begin + width
    if (firstSize <= split) {
      ranges.push({ begin: split, end })
      end = split
    } else {
      ranges.push({ begin, end: split })
      begin = split
    }
  }
  // A verifier knows the whole first tree.
  if (begin > 0) ranges.push({ begin, end })
  return ranges.reverse()
}
