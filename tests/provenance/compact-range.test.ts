import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toHex } from '../../provenance/bytes.ts'
import { merkleRoot, ProvenanceError, rootOfRange, subtreesOf, TreeBuilder } from '../../provenance/index.ts'
import { derived } from './fixtures.ts'
import { sha256 } from './node-crypto.ts'

const leaves = Array.from({ length: 300 }, (_, i) => derived(`leaf ${i}`, 32))

const range = fc
  .tuple(fc.nat(leaves.length), fc.nat(leaves.length), fc.nat(leaves.length))
  .map((three) => three.sort((a, b) => a - b) as [number, number, number])

/** By the definition: each is the tree over its own leaves. */
function rootsOf(begin: number, end: number): Uint8Array[] {
  return subtreesOf(begin, end).map(({ height, index }) =>
    merkleRoot(leaves.slice(index * 2 ** height, (index + 1) * 2 ** height), sha256),
  )
}

function rootOf(from: number, to: number, size: number, some = leaves.slice(from, to)): string {
  return toHex(rootOfRange(from, some, rootsOf(0, from), rootsOf(to, size), size, sha256))
}

describe('subtrees of a range', () => {
  test('stand side by side, complete, and no two neighbours are one', () => {
    fc.assert(
      fc.property(range, ([begin, end]) => {
        const subtrees = subtreesOf(begin, end)
        let at = begin
        for (const { height, index } of subtrees) {
          expect(index * 2 ** height).toBe(at)
          at += 2 ** height
        }
        expect(at).toBe(end)
        subtrees.slice(1).forEach(({ height, index }, i) => {
          expect(height === subtrees[i]!.height && index % 2 === 1).toBe(false)
        })
      }),
    )
  })

  test('are few, and reckoned beyond 32 bits', () => {
    expect(subtreesOf(0, 2 ** 52)).toEqual([{ height: 52, index: 0 }])
    expect(subtreesOf(2 ** 40 - 1, 2 ** 40 + 3)).toEqual([
      { height: 0, index: 2 ** 40 - 1 },
      { height: 1, index: 2 ** 39 },
      { height: 0, index: 2 ** 40 + 2 },
    ])
    expect(subtreesOf(1, Number.MAX_SAFE_INTEGER).length).toBeLessThan(106)
  })

  test.each([
    [1, 0],
    [-1, 1],
    [0.5, 1],
    [0, 2 ** 53],
  ])('from %d to %d there are none', (begin, end) => {
    expect(() => subtreesOf(begin, end)).toThrow(expect.objectContaining({ code: 'proof-malformed' }))
  })
})

describe('the root of a tree by a range of its leaves', () => {
  test('is the one of all its leaves', () => {
    fc.assert(
      fc.property(range, ([from, to, size]) => {
        expect(rootOf(from, to, size)).toBe(toHex(merkleRoot(leaves.slice(0, size), sha256)))
      }),
    )
  })

  test('is another one with a leaf changed, left out, added, or two swapped', () => {
    fc.assert(
      fc.property(range, fc.nat(), ([from, to, size], any) => {
        fc.pre(to - from >= 2)
        const root = toHex(merkleRoot(leaves.slice(0, size), sha256))
        const at = any % (to - from - 1)
        const some = leaves.slice(from, to)
        const other = derived('other leaf', 32)
        const swapped = some.with(at, some[at + 1]!).with(at + 1, some[at]!)
        expect(rootOf(from, to, size, some.with(at, other))).not.toBe(root)
        expect(rootOf(from, to, size, swapped)).not.toBe(root)
        for (const wrong of [some.toSpliced(at, 1), some.toSpliced(at, 0, other)]) {
          expect(rootOrRefusal(() => rootOf(from, to, size, wrong))).not.toBe(root)
        }
      }),
    )
  })

  test('needs exactly the roots of the rest', () => {
    const [from, to, size] = [5, 9, 21]
    const some = leaves.slice(from, to)
    const [left, right] = [rootsOf(0, from), rootsOf(to, size)]
    const refusal = expect.objectContaining({ code: 'proof-malformed' })
    const root = (before: Uint8Array[], behind: Uint8Array[], treeSize = size) =>
      rootOfRange(from, some, before, behind, treeSize, sha256)
    expect(() => root(left.slice(1), right)).toThrow(refusal)
    expect(() => root(left, right.slice(1))).toThrow(refusal)
    expect(() => root([...left, leaves[0]!], right)).toThrow(refusal)
    expect(() => root(left, [...right, leaves[0]!])).toThrow(refusal)
    expect(() => root(left, [], from)).toThrow(refusal)
    expect(() => root(left, right, 8)).toThrow(refusal)
    expect(() => root([left[0]!.subarray(1), ...left.slice(1)], right)).toThrow(refusal)
    expect(() => rootOfRange(0, [new Uint8Array(64)], [], [], 1, sha256)).toThrow(refusal)
  })

  test('of nothing is SHA-256 of nothing', () => {
    expect(toHex(rootOfRange(0, [], [], [], 0, sha256))).toBe(toHex(sha256(new Uint8Array(0))))
  })

  test('takes leaves as they come', () => {
    function* some() {
      yield* leaves.slice(3, 200)
    }
    expect(toHex(rootOfRange(3, some(), rootsOf(0, 3), rootsOf(200, 300), 300, sha256))).toBe(
      toHex(merkleRoot(leaves, sha256)),
    )
  })
})

test('a subtree is added only where one of its height begins', () => {
  const tree = new TreeBuilder(sha256)
  tree.append(leaves[0]!)
  expect(() => tree.append(leaves[1]!, 1)).toThrow(ProvenanceError)
  tree.append(leaves[1]!)
  tree.append(leaves[2]!, 1)
  expect(tree.size).toBe(4)
})

function rootOrRefusal(run: () => string): string {
  try {
    return run()
  } catch (error) {
    if (error instanceof ProvenanceError && error.code === 'proof-malformed') return 'refused'
    throw error
  }
}
