import type { Sha256 } from './bytes.ts'
import { ProvenanceError } from './errors.ts'
import { nodeHash, requireHashes } from './merkle.ts'

/**
 * Represents ranges of leaves by the roots of complete subtrees. Two adjacent ranges join into one, up to the whole
 * tree of RFC 6962 §2.1. A holder of the leaves of one part thus needs only a few hashes for the rest. Sizes are plain
 * numbers up to 2^53 - 1, without bitwise operators.
 */

/** A complete subtree over the leaves from `index * 2^height` to `(index + 1) * 2^height`, the last excluded. */
export type Subtree = { readonly height: number; readonly index: number }

/**
 * Returns the largest complete subtrees that cover the leaves from `begin` to `end` (excluded), from left to right.
 * Throws `proof-malformed` unless 0 <= begin <= end.
 */
export function subtreesOf(begin: number, end: number): Subtree[] {
  requireRange(begin, end)
  const subtrees: Subtree[] = []
  for (let at = begin; at < end; ) {
    let height = 0
    let width = 1
    while (at % (width * 2) === 0 && at + width * 2 <= end) {
      width *= 2
      height += 1
    }
    subtrees.push({ height, index: at / width })
    at += width
  }
  return subtrees
}

/** Joins subtrees from left to right. Holds one hash for each binary one in the current size. */
export class TreeBuilder {
  readonly #sha256: Sha256
  /** Roots of complete subtrees, by falling height. */
  readonly #roots: { height: number; hash: Uint8Array }[] = []
  #size = 0

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
  }

  /** Number of leaves added so far. */
  get size(): number {
    return this.#size
  }

  /**
   * Adds the next subtree; a leaf has the height 0. Throws `proof-malformed` if a subtree of that height cannot begin
   * here.
   */
  append(hash: Uint8Array, height = 0): void {
    const width = 2 ** height
    if (this.#size % width !== 0 || !Number.isSafeInteger(this.#size + width)) {
      throw new ProvenanceError('proof-malformed', `no subtree of height ${height} begins at leaf ${this.#size}`)
    }
    this.#size += width
    let joined = { height, hash }
    for (let left = this.#roots.at(-1); left?.height === joined.height; left = this.#roots.at(-1)) {
      this.#roots.pop()
      joined = { height: joined.height + 1, hash: nodeHash(left.hash, joined.hash, this.#sha256) }
    }
    this.#roots.push(joined)
  }

  /** Returns the Merkle Tree Hash of the added subtrees; SHA-256 of the empty string if none was added. */
  root(): Uint8Array {
    return joinRoots(
      this.#roots.map(({ hash }) => hash),
      this.#sha256,
    )
  }
}

/** Returns the root over adjacent subtrees whose heights fall from left to right. */
export function joinRoots(hashes: readonly Uint8Array[], sha256: Sha256): Uint8Array {
  if (hashes.length === 0) return sha256(new Uint8Array(0))
  return hashes.reduceRight((right, left) => nodeHash(left, right, sha256))
}

/**
 * Returns the root of a tree of `treeSize` leaves. The caller passes the leaves from `from` on, and the rest as the
 * roots of {@link subtreesOf} before and behind them. Throws `proof-malformed` if the leaves exceed the tree or the
 * number of roots differs: only an exact match proves the position of each leaf.
 */
export function rootOfRange(
  from: number,
  leaves: Iterable<Uint8Array>,
  left: readonly Uint8Array[],
  right: readonly Uint8Array[],
  treeSize: number,
  sha256: Sha256,
): Uint8Array {
  requireRange(from, treeSize)
  const tree = new TreeBuilder(sha256)
  appendAll(tree, from, left)
  for (const leaf of leaves) {
    requireHashes([leaf])
    if (tree.size === treeSize)
      throw new ProvenanceError('proof-malformed', `more leaves than the ${treeSize} of the tree`)
    tree.append(leaf)
  }
  appendAll(tree, treeSize, right)
  return tree.root()
}

function appendAll(tree: TreeBuilder, end: number, roots: readonly Uint8Array[]): void {
  const subtrees = subtreesOf(tree.size, end)
  if (roots.length !== subtrees.length) {
    throw new ProvenanceError(
      'proof-malformed',
      `${subtrees.length} roots stand for the leaves from ${tree.size} to ${end}, not ${roots.length}`,
    )
  }
  requireHashes(roots)
  subtrees.forEach(({ height }, i) => {
    tree.append(roots[i]!, height)
  })
}

function requireRange(begin: number, end: number): void {
  if (!Number.isSafeInteger(begin) || !Number.isSafeInteger(end) || begin < 0 || begin > end) {
    throw new ProvenanceError('proof-malformed', `no leaves from ${begin} to ${end}`)
  }
}
