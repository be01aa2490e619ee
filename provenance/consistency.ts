import { concatBytes, equalBytes, type Sha256 } from './bytes.ts'
import { ProvenanceError } from './errors.ts'
import { merkleRoot, requireHashes } from './merkle.ts'
import { type AsyncCrypto, runAsync, runSync, type SyncAsyncTask, sha256Of } from './sync-async-runner.ts'

/** Two states of one append-only tree, and the claim that the second continues the first. */
export type ConsistencyProof = {
  readonly firstSize: number
  readonly secondSize: number
  readonly firstRoot: Uint8Array
  readonly secondRoot: Uint8Array
  readonly path: readonly Uint8Array[]
}

/**
 * Returns PROOF(m, D[n]) of RFC 6962 §2.1.2 over leaf hashes. Throws `proof-malformed` unless 0 < firstSize <= leaf
 * count.
 */
export function consistencyPath(leaves: readonly Uint8Array[], firstSize: number, sha256: Sha256): Uint8Array[] {
  if (!Number.isSafeInteger(firstSize) || firstSize < 1 || firstSize > leaves.length) {
    throw new ProvenanceError('proof-malformed', `no consistency proof from ${firstSize} to ${leaves.length} leaves`)
  }
  return subproof(leaves, firstSize, true, sha256)
}

function subproof(leaves: readonly Uint8Array[], firstSize: number, isWhole: boolean, sha256: Sha256): Uint8Array[] {
  if (firstSize === leaves.length) return isWhole ? [] : [merkleRoot(leaves, sha256)]
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  const left = leaves.slice(0, split)
  const right = leaves.slice(split)
  if (firstSize <= split) return [...subproof(left, firstSize, isWhole, sha256), merkleRoot(right, sha256)]
  return [...subproof(right, firstSize - split, false, sha256), merkleRoot(left, sha256)]
}

/**
 * Returns true if the second tree starts with the first (RFC 9162 §2.1.4.2), false for a first size of 0, which allows
 * no proof. Throws `proof-malformed` if a hash is not 32 bytes or a size is not a whole number.
 */
export function verifyConsistency(proof: ConsistencyProof, sha256: Sha256): boolean {
  return runSync(verifyConsistencySteps(proof), { sha256, verifyEd25519: () => false })
}

/** Works like {@link verifyConsistency} with a hash that returns a promise. */
export function verifyConsistencyAsync(proof: ConsistencyProof, sha256: AsyncCrypto['sha256']): Promise<boolean> {
  return runAsync(verifyConsistencySteps(proof), { sha256, verifyEd25519: async () => false })
}

/** Works like {@link verifyConsistency}, for any runtime. */
export function* verifyConsistencySteps(proof: ConsistencyProof): SyncAsyncTask<boolean> {
  const { firstSize, secondSize, firstRoot, secondRoot, path } = proof
  if (!Number.isSafeInteger(firstSize) || !Number.isSafeInteger(secondSize)) {
    throw new ProvenanceError('proof-malformed', 'a tree size is not a whole number')
  }
  requireHashes([firstRoot, secondRoot, ...path])
  if (firstSize < 1 || firstSize > secondSize) return false
  if (firstSize === secondSize) return path.length === 0 && equalBytes(firstRoot, secondRoot)

  let index = firstSize - 1
  let last = secondSize - 1
  while (index % 2 === 1) [index, last] = [Math.floor(index / 2), Math.floor(last / 2)]
  // If the first tree is complete, its root is a node of the second, and the path omits it.
  const rest = index === 0 ? path : path.slice(1)
  const start = index === 0 ? firstRoot : path[0]
  if (start === undefined) return false

  let first = start
  let second = start
  for (const hash of rest) {
    if (last === 0) return false
    if (index % 2 === 1 || index === last) {
      first = yield* hashOfNode(hash, first)
      second = yield* hashOfNode(hash, second)
      while (index % 2 === 0 && index !== 0) [index, last] = [Math.floor(index / 2), Math.floor(last / 2)]
    } else {
      second = yield* hashOfNode(second, hash)
    }
    index = Math.floor(index / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && equalBytes(first, firstRoot) && equalBytes(second, secondRoot)
}

function hashOfNode(left: Uint8Array, right: Uint8Array): SyncAsyncTask<Uint8Array> {
  return sha256Of(concatBytes(Uint8Array.of(1), left, right))
}
