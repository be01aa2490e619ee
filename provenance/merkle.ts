import { concatBytes, type Sha256 } from './bytes.ts'
import { ProvenanceError } from './errors.ts'
import { runSync, type SyncAsyncTask, sha256Of } from './sync-async-runner.ts'

/**
 * The Merkle tree of RFC 6962 §2.1. Leaves are given as 32-byte leaf *hashes*. Indexes and sizes are plain numbers
 * up to 2^53 - 1, so the arithmetic avoids bitwise operators, which stop at 32 bits.
 */

const nodePrefix = Uint8Array.of(1)

// Reused, because making a buffer for each node takes longer than hashing it.
const nodeScratch = Uint8Array.of(1, ...new Uint8Array(64))

/** Returns SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Uint8Array, right: Uint8Array, sha256: Sha256): Uint8Array {
  if (left.length !== 32 || right.length !== 32) return sha256(concatBytes(nodePrefix, left, right))
  nodeScratch.set(left, 1)
  nodeScratch.set(right, 33)
  return sha256(nodeScratch)
}

/**
 * Returns all levels of the tree, leaves first, root last. A node without a sibling is carried up unchanged, which
 * gives the same tree as RFC 6962's split at the largest power of two. `leaves` must not be empty.
 */
export function treeLevels(leaves: readonly Uint8Array[], sha256: Sha256): Uint8Array[][] {
  const levels = [[...leaves]]
  let level = levels[0]!
  while (level.length > 1) {
    const parents: Uint8Array[] = []
    for (let i = 0; i + 1 < level.length; i += 2) parents.push(nodeHash(level[i]!, level[i + 1]!, sha256))
    if (level.length % 2 === 1) parents.push(level[level.length - 1]!)
    levels.push(parents)
    level = parents
  }
  return levels
}

/** Returns the Merkle Tree Hash; SHA-256 of the empty string for no leaves. */
export function merkleRoot(leaves: readonly Uint8Array[], sha256: Sha256): Uint8Array {
  return leaves.length === 0 ? sha256(new Uint8Array(0)) : treeLevels(leaves, sha256).at(-1)![0]!
}

/** Returns the siblings from a leaf up to the root, from the levels of {@link treeLevels}. */
export function pathInLevels(levels: readonly (readonly Uint8Array[])[], leafIndex: number): Uint8Array[] {
  const path: Uint8Array[] = []
  let index = leafIndex
  for (const level of levels) {
    const sibling = level[index % 2 === 0 ? index + 1 : index - 1]
    if (sibling !== undefined) path.push(sibling)
    index = Math.floor(index / 2)
  }
  return path
}

/** Returns PATH(m, D[n]) of RFC 6962 §2.1.1. Throws `proof-malformed` for an index outside the tree. */
export function inclusionPath(leaves: readonly Uint8Array[], leafIndex: number, sha256: Sha256): Uint8Array[] {
  requireLeafIndex(leafIndex, leaves.length)
  return pathInLevels(treeLevels(leaves, sha256), leafIndex)
}

/**
 * Returns the number of hashes in the inclusion path of a leaf. Throws `proof-malformed` for an index outside the tree.
 */
export function inclusionPathLength(leafIndex: number, treeSize: number): number {
  requireLeafIndex(leafIndex, treeSize)
  let length = 0
  for (let index = leafIndex, last = treeSize - 1; last > 0; index = half(index), last = half(last)) {
    if (index % 2 === 1 || index < last) length++
  }
  return length
}

/**
 * Returns the root that a leaf and its path lead to (RFC 9162 §2.1.3.2). Throws `proof-malformed` on a path of wrong
 * length.
 */
export function* inclusionRoot(
  leafIndex: number,
  treeSize: number,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
): SyncAsyncTask<Uint8Array> {
  if (path.length !== inclusionPathLength(leafIndex, treeSize)) {
    throw new ProvenanceError('proof-malformed', `inclusion path has ${path.length} hashes`)
  }
  requireHashes([leaf, ...path])
  let root = leaf
  let next = 0
  for (let index = leafIndex, last = treeSize - 1; last > 0; index = half(index), last = half(last)) {
    if (index % 2 === 1) root = yield* sha256Of(concatBytes(nodePrefix, path[next++]!, root))
    else if (index < last) root = yield* sha256Of(concatBytes(nodePrefix, root, path[next++]!))
  }
  return root
}

/** Works like {@link inclusionRoot}, with a synchronous hash. */
export function rootFromInclusionPath(
  leafIndex: number,
  treeSize: number,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
  sha256: Sha256,
): Uint8Array {
  return runSync(inclusionRoot(leafIndex, treeSize, leaf, path), { sha256, verifyEd25519: () => false })
}

function requireLeafIndex(leafIndex: number, treeSize: number): void {
  if (!Number.isSafeInteger(treeSize) || !Number.isSafeInteger(leafIndex) || leafIndex < 0 || leafIndex >= treeSize) {
    throw new ProvenanceError('proof-malformed', `no leaf ${leafIndex} in a tree of ${treeSize}`)
  }
}

/** Throws `proof-malformed` unless each hash has 32 bytes: a longer one could pass as two. */
export function requireHashes(hashes: readonly Uint8Array[]): void {
  if (hashes.some((hash) => hash.length !== 32)) throw new ProvenanceError('proof-malformed', 'a hash is not 32 bytes')
}

function half(n: number): number {
  return Math.floor(n / 2)
}
