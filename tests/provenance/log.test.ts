import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fromBase64, toBase64 } from '../../provenance/bytes.ts'
import {
  decodeCosign,
  logLeafHash,
  merkleRoot,
  ProvenanceError,
  parseCheckpoint,
  parseNote,
  parseRecordHash,
  rootFromInclusionPath,
  rootOfRange,
  sealNoteOfRecord,
  verifyConsistency,
  verifyNoteSync,
} from '../../provenance/index.ts'
import { firstKey, strangeKey } from './fixtures.ts'
import { nodeCrypto, sha256 } from './node-crypto.ts'
import { ownLogVectors, ownLogVectorsUrl } from './own-log-vectors.ts'

type OwnLogVectors = {
  seals: { provenance_hash: string; cosign: string; note: string; leaf: string }[]
  roots: string[]
  checkpoints: { tree_size: number; time_micros: number; note: string }[]
  inclusion: { index: number; tree_size: number; path: string[] }[]
  consistency: { from: number; to: number; path: string[] }[]
  ranges: { from: number; to: number; tree_size: number; left: string[]; right: string[] }[]
}

const source = readFileSync(ownLogVectorsUrl, 'utf8')
const vectors = JSON.parse(source) as OwnLogVectors
const leaves = vectors.seals.map(({ leaf }) => fromBase64(leaf))
const hashes = (encoded: readonly string[]) => encoded.map(fromBase64)
const rootOf = (size: number) => fromBase64(vectors.roots[size]!)

test('writing the vectors again gives the same bytes', () => {
  expect(ownLogVectors() === source).toBe(true)
})

describe('a leaf of the log', () => {
  test.each(vectors.seals)(
    'is that of the signed note of its seal: $leaf',
    ({ provenance_hash, cosign, note, leaf }) => {
      expect(sealNoteOfRecord(firstKey.name, decodeCosign(cosign), parseRecordHash(provenance_hash), sha256)).toBe(note)
      expect(toBase64(logLeafHash(note, sha256))).toBe(leaf)
      expect(verifyNoteSync(parseNote(note), [firstKey], nodeCrypto)).toBe(true)
      expect(verifyNoteSync(parseNote(note), [strangeKey], nodeCrypto)).toBe(false)
    },
  )

  test('no note of a seal is a checkpoint', () => {
    for (const { note } of vectors.seals) expect(() => parseCheckpoint(note)).toThrow(ProvenanceError)
  })

  test('another hash, another signature or another log is another leaf', () => {
    const { cosign, note } = vectors.seals[1]!
    const decoded = decodeCosign(cosign)
    const others = [
      sealNoteOfRecord(firstKey.name, decoded, new Uint8Array(32), sha256),
      sealNoteOfRecord(firstKey.name, { ...decoded, signature: new Uint8Array(64) }, hashOf(1), sha256),
      sealNoteOfRecord(strangeKey.name, decoded, hashOf(1), sha256),
    ]
    expect(new Set([note, ...others].map((some) => toBase64(logLeafHash(some, sha256)))).size).toBe(4)
    expect(() => sealNoteOfRecord(firstKey.name, decoded, new Uint8Array(31), sha256)).toThrow(ProvenanceError)
  })
})

const hashOf = (i: number) => parseRecordHash(vectors.seals[i]!.provenance_hash)

describe('the tree over them', () => {
  test('roots of every size', () => {
    expect(vectors.roots).toEqual(vectors.roots.map((_, size) => toBase64(merkleRoot(leaves.slice(0, size), sha256))))
  })

  test.each(vectors.checkpoints)('checkpoint of $tree_size', ({ tree_size, time_micros, note }) => {
    const { root, ...said } = parseCheckpoint(note)
    expect(said).toEqual({ logName: firstKey.name, treeSize: tree_size, timeMicros: time_micros })
    expect(toBase64(root)).toBe(vectors.roots[tree_size])
    expect(verifyNoteSync(parseNote(note), [firstKey], nodeCrypto)).toBe(true)
  })

  test('inclusion of every leaf in every size', () => {
    expect(vectors.inclusion).toHaveLength(45)
    for (const { index, tree_size: size, path } of vectors.inclusion) {
      const root = rootFromInclusionPath(index, size, leaves[index]!, hashes(path), sha256)
      expect(toBase64(root)).toBe(vectors.roots[size])
    }
  })

  test('consistency of every pair of sizes', () => {
    expect(vectors.consistency).toHaveLength(45)
    for (const { from, to, path } of vectors.consistency) {
      const sizes = { firstSize: from, secondSize: to, firstRoot: rootOf(from), secondRoot: rootOf(to) }
      expect(verifyConsistency({ ...sizes, path: hashes(path) }, sha256)).toBe(true)
    }
  })

  test('every range of leaves', () => {
    expect(vectors.ranges).toHaveLength(45)
    for (const { from, to, tree_size: size, left, right } of vectors.ranges) {
      const root = rootOfRange(from, leaves.slice(from, to), hashes(left), hashes(right), size, sha256)
      expect(toBase64(root)).toBe(vectors.roots[size])
    }
  })
})
