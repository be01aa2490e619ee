import { concatBytes, fromBase64 } from './bytes.ts'
import { subtreesOf } from './compact-range.ts'
import { type SyncAsyncTask, sha256Of } from './sync-async-runner.ts'

const nodePrefix = Uint8Array.of(1)

/**
 * Computes the root of the whole log from the leaves of a range, added one by one: `rootOfRange` for any runtime,
 * without retaining the leaves.
 */
export class LogRange {
  /** Roots of complete subtrees, by falling height. */
  readonly #roots: { height: number; hash: Uint8Array }[] = []
  #size: number
  #isKnown: boolean

  /** @param left the roots, in base64, of the subtrees before `from` */
  constructor(from: number, left: readonly string[]) {
    const subtrees = subtreesOf(0, from)
    this.#size = from
    this.#isKnown = subtrees.length === left.length
    if (this.#isKnown) {
      for (const [i, { height }] of subtrees.entries()) this.#roots.push({ height, hash: fromBase64(left[i]!) })
    }
  }

  /** @param leaf undefined if unknown; then there is no root */
  *append(leaf: Uint8Array | undefined): SyncAsyncTask<void> {
    if (leaf === undefined) this.#isKnown = false
    else if (this.#isKnown) yield* this.#append(leaf, 0)
  }

  /**
   * @param right the roots, in base64, of the subtrees behind the range
   * @returns undefined if a leaf was unknown or the number of roots is wrong
   */
  *root(right: readonly string[], treeSize: number): SyncAsyncTask<Uint8Array | undefined> {
    const subtrees = this.#size <= treeSize ? subtreesOf(this.#size, treeSize) : []
    if (!this.#isKnown || this.#size > treeSize || subtrees.length !== right.length) return undefined
    for (const [i, { height }] of subtrees.entries()) yield* this.#append(fromBase64(right[i]!), height)
    let root = this.#roots.at(-1)?.hash ?? (yield* sha256Of(new Uint8Array(0)))
    for (let i = this.#roots.length - 2; i >= 0; i--) root = yield* parent(this.#roots[i]!.hash, root)
    return root
  }

  *#append(hash: Uint8Array, height: number): SyncAsyncTask<void> {
    let joined = { height, hash }
    this.#size += 2 ** height
    for (let left = this.#roots.at(-1); left?.height === joined.height; left = this.#roots.at(-1)) {
      this.#roots.pop()
      joined = { height: joined.height + 1, hash: yield* parent(left.hash, joined.hash) }
    }
    this.#roots.push(joined)
  }
}

function parent(left: Uint8Array, right: Uint8Array): SyncAsyncTask<Uint8Array> {
  return sha256Of(concatBytes(nodePrefix, left, right))
}
