import { concatBytes, type Sha256 } from './bytes.ts'
import { nodeHash } from './merkle.ts'

/** Leaves below one upper node: with their hashes beside it, the lowest two levels of a path are one hash away. */
export const leavesPerUpperNode = 4

/**
 * The nodes that lie two levels above the leaves and higher, up to below the root, level by level, 32 bytes each: what
 * is kept of a tree so that a path is read and not computed.
 *
 * @param levels of `treeLevels`
 */
export function upperNodesOf(levels: readonly (readonly Uint8Array[])[]): Uint8Array {
  return concatBytes(...levels.slice(2, -1).flat())
}

/**
 * The lowest part of an inclusion path, below the upper nodes.
 *
 * @param group the leaves, up to four, that share the leaf's upper node, one after the other
 * @param position of the leaf in the group
 */
export function lowerPath(group: Uint8Array, position: number, sha256: Sha256): Uint8Array[] {
  const leaf = (at: number) => group.subarray(32 * at, 32 * at + 32)
  const count = group.length / 32
  const sibling = position ^ 1
  const path = sibling < count ? [leaf(sibling)] : []
  const pair = (position & 2) ^ 2
  if (pair + 1 < count) path.push(nodeHash(leaf(pair), leaf(pair + 1), sha256))
  else if (pair < count) path.push(leaf(pair))
  return path
}
