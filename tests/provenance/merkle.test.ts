import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { concatBytes, equalBytes, toHex } from '../../provenance/bytes.ts'
import {
  consistencyPath,
  inclusionPath,
  merkleRoot,
  nodeHash,
  ProvenanceError,
  rootFromInclusionPath,
  verifyConsistency,
} from '../../provenance/index.ts'
import { derived } from './fixtures.ts'
import { sha256 } from './node-crypto.ts'

const leaves = Array.from({ length: 130 }, (_, i) => derived(`leaf ${i}`, 32))

/** The definition in RFC 6962 §2.1, word for word: split at the largest power of two below n. */
function rootByDefinition(of: readonly Uint8Array[]): Uint8Array {
  if (of.length === 1) return of[0]!
  const split = 2 ** Math.floor(Math.log2(of.length - 1))
  return sha256(concatBytes(Uint8Array.of(1), rootByDefinition(of.slice(0, split)), rootByDefinition(of.slice(split))))
}

function leadsTo(
  root: Uint8Array,
  index: number,
  size: number,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
): boolean {
  try {
    return equalBytes(rootFromInclusionPath(index, size, leaf, path, sha256), root)
  } catch (error) {
    if (error instanceof ProvenanceError && error.code === 'proof-malformed') return false
    throw error
  }
}

function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  return bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
}

const position = fc
  .integer({ min: 1, max: 64 })
  .chain((size) => fc.tuple(fc.constant(size), fc.integer({ min: 0, max: size - 1 })))

describe('inclusion', () => {
  test('roots of 1 to 130 leaves are those of the definition', () => {
    for (let size = 1; size <= leaves.length; size++) {
      const some = leaves.slice(0, size)
      expect(toHex(merkleRoot(some, sha256))).toBe(toHex(rootByDefinition(some)))
    }
  })

  test('every leaf of every size up to 64 verifies with its own index only', () => {
    for (let size = 1; size <= 64; size++) {
      const some = leaves.slice(0, size)
      const root = merkleRoot(some, sha256)
      for (let index = 0; index < size; index++) {
        const path = inclusionPath(some, index, sha256)
        const accepted = some.flatMap((_, i) => (leadsTo(root, i, size, leaves[index]!, path) ? [i] : []))
        expect(accepted).toEqual([index])
      }
    }
  })

  test('no other leaf and no flipped bit verifies', () => {
    fc.assert(
      fc.property(position, fc.nat(), fc.nat(), ([size, index], other, bit) => {
        const some = leaves.slice(0, size)
        const root = merkleRoot(some, sha256)
        const path = inclusionPath(some, index, sha256)
        const leaf = leaves[index]!
        expect(leadsTo(root, index, size, leaf, path)).toBe(true)
        const otherLeaf = leaves[other % 130]!
        expect(leadsTo(root, index, size, otherLeaf, path)).toBe(otherLeaf === leaf)
        expect(leadsTo(root, index, size, flipBit(leaf, bit % 256), path)).toBe(false)
        const flipped = path.map((hash, i) => (i === other % path.length ? flipBit(hash, bit % 256) : hash))
        expect(leadsTo(root, index, size, leaf, flipped)).toBe(path.length === 0)
        expect(leadsTo(root, index, size, leaf, [...path, leaf])).toBe(false)
        expect(leadsTo(root, index, size, leaf, path.slice(1))).toBe(path.length === 0)
      }),
    )
  })

  test('a node cannot pose as a leaf of a smaller tree by its size alone', () => {
    const root = merkleRoot(leaves.slice(0, 4), sha256)
    const pair = nodeHash(leaves[0]!, leaves[1]!, sha256)
    // Tree sizes are signed for this reason: the arithmetic alone would accept it.
    expect(leadsTo(root, 0, 2, pair, [nodeHash(leaves[2]!, leaves[3]!, sha256)])).toBe(true)
    expect(leadsTo(root, 0, 4, pair, [nodeHash(leaves[2]!, leaves[3]!, sha256)])).toBe(false)
  })

  test.each([
    [0, 0],
    [1, 1],
    [-1, 4],
    [0.5, 4],
    [0, 1.5],
    [0, Number.NaN],
    [2 ** 53, 2 ** 54],
  ])('index %d of %d is refused', (index, size) => {
    const refusal = expect.objectContaining({ code: 'proof-malformed' })
    expect(() => rootFromInclusionPath(index, size, leaves[0]!, [], sha256)).toThrow(refusal)
  })

  test('sizes beyond 32 bits', () => {
    const path = Array.from({ length: 41 }, (_, i) => leaves[i]!)
    const root = rootFromInclusionPath(2 ** 40 + 5, 2 ** 41, leaves[50]!, path, sha256)
    expect(leadsTo(root, 2 ** 40 + 4, 2 ** 41, leaves[50]!, path)).toBe(false)
    expect(leadsTo(root, 5, 2 ** 41, leaves[50]!, path)).toBe(false)
  })
})

describe('consistency', () => {
  test('every pair of sizes up to 40 is proven, and no tree with another beginning', () => {
    for (let secondSize = 1; secondSize <= 40; secondSize++) {
      const secondRoot = merkleRoot(leaves.slice(0, secondSize), sha256)
      for (let firstSize = 1; firstSize <= secondSize; firstSize++) {
        const path = consistencyPath(leaves.slice(0, secondSize), firstSize, sha256)
        const firstRoot = merkleRoot(leaves.slice(0, firstSize), sha256)
        const claim = { firstSize, secondSize, firstRoot, secondRoot, path }
        expect(verifyConsistency(claim, sha256)).toBe(true)
        const rewritten = merkleRoot([leaves[99]!, ...leaves.slice(1, firstSize)], sha256)
        expect(verifyConsistency({ ...claim, firstRoot: rewritten }, sha256)).toBe(false)
        expect(verifyConsistency({ ...claim, path: [...path, firstRoot] }, sha256)).toBe(false)
        expect(verifyConsistency({ ...claim, path: path.slice(1) }, sha256)).toBe(path.length === 0)
      }
    }
  })

  test('sizes that are not sizes', () => {
    const hashes = { firstRoot: leaves[0]!, secondRoot: leaves[0]!, path: [] }
    expect(verifyConsistency({ ...hashes, firstSize: 0, secondSize: 0 }, sha256)).toBe(false)
    const refusal = expect.objectContaining({ code: 'proof-malformed' })
    expect(() => verifyConsistency({ ...hashes, firstSize: 0.5, secondSize: 1 }, sha256)).toThrow(refusal)
    expect(() => consistencyPath(leaves, 0, sha256)).toThrow(refusal)
    expect(() => consistencyPath(leaves, 131, sha256)).toThrow(refusal)
  })
})
