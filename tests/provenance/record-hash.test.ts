import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toHex } from '../../provenance/bytes.ts'
import { formatRecordHash, recordHash } from '../../provenance/index.ts'
import { sha256 } from './node-crypto.ts'

const expected = (text: string) => createHash('sha256').update('orghub/record/v1\0').update(text, 'utf8').digest('hex')

test('is SHA-256 of the domain constant and the text in UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(toHex(recordHash(text, sha256))).toBe(expected(text))
    }),
  )
})

test('texts of every size around the reused buffer', () => {
  for (const size of [0, 1, 21_827, 21_828, 21_829, 65_519, 65_536, 1_000_000]) {
    for (const character of ['x', 'é', '検']) {
      expect(toHex(recordHash(character.repeat(size), sha256))).toBe(expected(character.repeat(size)))
    }
  }
  expect(toHex(recordHash('short again', sha256))).toBe(expected('short again'))
})

test('a lone surrogate has no bytes', () => {
  expect(() => recordHash('a\ud800', sha256)).toThrow(expect.objectContaining({ code: 'encoding-malformed' }))
  expect(() => formatRecordHash(new Uint8Array(31))).toThrow(expect.objectContaining({ code: 'hash-malformed' }))
})
