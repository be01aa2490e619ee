import { concatBytes, type Sha256 } from './bytes.ts'
import { nodeHash } from './merkle.ts'

/**
 * Number of leaves below one upper node. With their hashes beside it, the lowest two levels of a path are one hash
 * away.
 */
export const leavesPerUpperNode = 4

/**
 * Returns the nodes from two levels above the leaves up to below the root, level by level, 32 bytes each. They are
 * stored so that a path is read, not computed.
 *
 * @param levels the result of `treeLevels`
 */
export function upperNodesOf(levels: readonly (readonly Uint8Array[])[]): Uint8Array {
  return concatBytes(...levels.slice(2, -1).flat())
}

/**
 * Returns the lowest part of an inclusion path, below the upper nodes.
 *
 * @param group the leaves, up to four, that share the leaf's upper node, one after the other
 * @param position the position of the leaf in the group
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
