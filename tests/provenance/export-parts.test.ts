import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toBase64, utf8 } from '../../provenance/bytes.ts'
import { rootOfRange, subtreesOf, TreeBuilder } from '../../provenance/compact-range.ts'
import { readCosign } from '../../provenance/cosign.ts'
import { cosignBytes, decodeCosignInto } from '../../provenance/cosign-bytes.ts'
import { duplicateMember } from '../../provenance/duplicate-members.ts'
import { readManifestHead, readManifestSeals } from '../../provenance/export/manifest-reader.ts'
import { decodeCosign, merkleRoot, ProvenanceError } from '../../provenance/index.ts'
import { LogRange } from '../../provenance/log-range.ts'
import { SealIndex } from '../../provenance/seal-index.ts'
import { runSync } from '../../provenance/sync-async-runner.ts'
import { derived, derivedUuid, firstKey, plainTexts, sealTexts } from './fixtures.ts'
import { nodeCrypto, sha256 } from './node-crypto.ts'

test('cosignatures are read from bytes exactly as from text', () => {
  const { items } = sealTexts(plainTexts(37), firstKey, 'bytes')
  const edits = fc.array(fc.tuple(fc.nat(430), fc.constantFrom(...'AZaz09-_=+. \n')), { maxLength: 2 })
  const target = new Uint8Array(cosignBytes.lengthMax)
  fc.assert(
    fc.property(fc.nat(36), edits, fc.integer({ min: -3, max: 3 }), (which, changes, cut) => {
      const chars = [...items[which]!.cosign]
      for (const [at, char] of changes) chars[at] = char
      const text =
        [...chars]
          .map((char) => char ?? 'A')
          .join('')
          .slice(0, cut < 0 ? cut : undefined) + 'A'.repeat(Math.max(0, cut))
      const source = utf8(`"${text}"`)
      const length = decodeCosignInto(source, 1, source.length - 1, target)
      expect(length < 0 ? undefined : readCosign(target.slice(0, length))).toEqual(
        orUndefined(() => decodeCosign(text)),
      )
    }),
    { numRuns: 2000 },
  )
})

test('a member that is there twice is found at any depth, however it is written', () => {
  expect(duplicateMember('{"a":{"b":[{"c":1,"c":2}]}}')).toBe('c')
  expect(duplicateMember('{"a":1,"\\u0061" : 2}')).toBe('a')
  expect(duplicateMember('{"\\"":1,"x":"\\"","\\\\":"\\\\\\"a"}')).toBeUndefined()
  expect(duplicateMember('[{"a":"a","b":{"a":["a","a",{"a":1}]}},{"a":1}]')).toBeUndefined()
  fc.assert(
    fc.property(fc.json(), (json) => {
      expect(duplicateMember(json)).toBeUndefined()
    }),
  )
})

describe('a range of the log', () => {
  const leaves = Array.from({ length: 70 }, (_, i) => derived(`log leaf ${i}`, 32))
  const rootsOf = (begin: number, end: number) =>
    subtreesOf(begin, end).map(({ height, index }) => {
      const tree = new TreeBuilder(sha256)
      for (const leaf of leaves.slice(index * 2 ** height, (index + 1) * 2 ** height)) tree.append(leaf)
      return tree.root()
    })

  test('leads to the root of the whole', () => {
    fc.assert(
      fc.property(fc.nat(70), fc.nat(70), fc.nat(70), (a, b, c) => {
        const [from, to, size] = [a, b, c].sort((x, y) => x - y) as [number, number, number]
        const [left, right] = [rootsOf(0, from), rootsOf(to, size)]
        const range = new LogRange(from, left.map(toBase64))
        for (const leaf of leaves.slice(from, to)) runSync(range.append(leaf), nodeCrypto)
        const root = toBase64(runSync(range.root(right.map(toBase64), size), nodeCrypto)!)
        expect(root).toBe(toBase64(merkleRoot(leaves.slice(0, size), sha256)))
        expect(root).toBe(toBase64(rootOfRange(from, leaves.slice(from, to), left, right, size, sha256)))
      }),
    )
  })

  test('has no root where a leaf is not known or roots are more or fewer than it takes', () => {
    const rootWith = (left: Uint8Array[], middle: (Uint8Array | undefined)[], right: Uint8Array[]) => {
      const range = new LogRange(5, left.map(toBase64))
      for (const leaf of middle) runSync(range.append(leaf), nodeCrypto)
      return runSync(range.root(right.map(toBase64), 20), nodeCrypto)
    }
    const [left, middle, right] = [rootsOf(0, 5), leaves.slice(5, 9), rootsOf(9, 20)]
    expect(rootWith(left, middle, right)).toEqual(merkleRoot(leaves.slice(0, 20), sha256))
    expect(rootWith(left, middle.with(2, undefined as never), right)).toBeUndefined()
    expect(rootWith(left.slice(1), middle, right)).toBeUndefined()
    expect(rootWith(left, middle, right.slice(1))).toBeUndefined()
    expect(rootWith(left, leaves.slice(5, 30), [])).toBeUndefined()
  })
})

test('thousands of seals are found again, and no others', () => {
  const index = new SealIndex()
  const ids = Array.from({ length: 5000 }, (_, i) => derivedUuid(`indexed ${i}`))
  expect(ids.every((id) => index.add(id))).toBe(true)
  const bytesOf = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex')
  expect(ids.every((id, i) => index.find(bytesOf(id)) === i)).toBe(true)
  expect(index.add(ids[3]!)).toBe(false)
  expect(index.find(bytesOf(derivedUuid('another')))).toBe(-1)
  expect(index.count).toBe(5000)
})

describe('a manifest in pieces', () => {
  const pieces = (text: string, size: number) => () => {
    const bytes = utf8(text)
    return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(size * i, size * i + size))
  }

  test('is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.array(fc.jsonValue()),
        fc.nat(9),
        fc.nat(2),
        (object, seals, size, indent) => {
          const text = JSON.stringify({ ...object, seals, behind: 'x' }, null, indent)
          const { seals: _, ...rest } = JSON.parse(text) as Record<string, never>
          const read: unknown[] = []
          const { seals: mark, ...head } = readManifestHead(pieces(text, size + 1), (seal) => read.push(seal))
          expect([head, mark, read]).toEqual([rest, true, JSON.parse(JSON.stringify(seals))])
          expect([...readManifestSeals(pieces(text, size + 1))]).toEqual(read)
        },
      ),
    )
  })

  test.each([
    '',
    '[]',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a":1 "b":2}',
    '{"seals":[1',
    '{"seals":[1 2]}',
    '{"seals":[,]}',
    '{"seals":[1,]}',
    '{"a":"\n"}',
    '{"a":1}}',
    '{}x',
    '"x"',
  ])('is refused when it is no object: %s', (text) => {
    expect(() => readManifestHead(pieces(text, 3), () => {})).toThrow(ProvenanceError)
  })
})

function orUndefined<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}
