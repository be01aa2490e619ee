import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromBase64Url, toBase64Url } from '../../provenance/bytes.ts'
import {
  buildSeal,
  type Cosign,
  cosignOfLeaf,
  cosignsOfSeal,
  decodeCosign,
  encodeCosign,
  type SealInput,
  sealNoteText,
  sealRecords,
  verifyRecordSync,
} from '../../provenance/index.ts'
import { inclusionPathLength } from '../../provenance/merkle.ts'
import { derived, derivedUuid, firstKey, plainTexts, sealTexts } from './fixtures.ts'
import { nodeCrypto, sha256 } from './node-crypto.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

const cosigns: fc.Arbitrary<Cosign> = fc
  .integer({ min: 1, max: 64 })
  .chain((leafCount) => fc.tuple(fc.constant(leafCount), fc.integer({ min: 0, max: leafCount - 1 })))
  .chain(([leafCount, leafIndex]) => {
    const length = inclusionPathLength(leafIndex, leafCount)
    return fc.record({
      keyId: bytes(16).map((id) => Buffer.from(id).toString('hex')),
      sealId: fc.uuid(),
      timeMicros: fc.maxSafeNat(),
      leafCount: fc.constant(leafCount),
      leafIndex: fc.constant(leafIndex),
      salt: bytes(16),
      signature: bytes(64),
      path: fc.array(bytes(32), { minLength: length, maxLength: length }),
    })
  })

describe('encodeCosign and decodeCosign', () => {
  test('are inverse', () => {
    fc.assert(
      fc.property(cosigns, (cosign) => {
        expect(decodeCosign(encodeCosign(cosign))).toEqual(cosign)
      }),
    )
  })

  const cosign: Cosign = {
    keyId: firstKey.keyId,
    sealId: derivedUuid('seal'),
    timeMicros: 1,
    leafCount: 2,
    leafIndex: 1,
    salt: new Uint8Array(16),
    signature: new Uint8Array(64),
    path: [new Uint8Array(32)],
  }

  test('the layout is the documented one', () => {
    const binary = Buffer.from(fromBase64Url(encodeCosign({ ...cosign, timeMicros: 2 ** 53 - 1 }).slice(6)))
    expect(binary).toHaveLength(155)
    expect(binary[0]).toBe(1)
    expect(binary.toString('hex', 1, 17)).toBe(cosign.keyId)
    expect(binary.toString('hex', 17, 33)).toBe(cosign.sealId.replaceAll('-', ''))
    expect(binary.toString('hex', 33, 43)).toBe('001fffffffffffff0201')
  })

  test.each<[string, Partial<Cosign>]>([
    ['short salt', { salt: new Uint8Array(15) }],
    ['short signature', { signature: new Uint8Array(63) }],
    ['short path hash', { path: [new Uint8Array(31)] }],
    ['no path', { path: [] }],
    ['path too long', { path: [new Uint8Array(32), new Uint8Array(32)] }],
    ['index outside', { leafIndex: 2 }],
    ['negative index', { leafIndex: -1 }],
    ['no leaves', { leafCount: 0, leafIndex: 0, path: [] }],
    ['65 leaves', { leafCount: 65 }],
    ['negative time', { timeMicros: -1 }],
    ['unsafe time', { timeMicros: 2 ** 53 }],
    ['short key id', { keyId: '00' }],
  ])('refuses to write: %s', (_, change) => {
    expect(() => encodeCosign({ ...cosign, ...change })).toThrow(expect.objectContaining({ code: 'cosign-malformed' }))
  })
})

test('any flipped bit of a cosign is noticed', () => {
  const items = sealTexts(plainTexts(5), firstKey, 'flips').items
  const keys = new Map([[firstKey.keyId, firstKey]])
  const item = items[2]!
  const binary = Uint8Array.from(fromBase64Url(item.cosign.slice(6)))
  expect(verifyRecordSync({ ...item, keys }, nodeCrypto).verified).toBe(true)
  for (let bit = 0; bit < binary.length * 8; bit++) {
    const flipped = binary.with(bit >> 3, binary[bit >> 3]! ^ (1 << (bit & 7)))
    const result = verifyRecordSync({ ...item, cosign: `omhc1.${toBase64Url(flipped)}`, keys }, nodeCrypto)
    expect(result.checks).toEqual({
      provenance_hash_matches: true,
      provenance_cosign_valid: false,
      schema_version_supported: true,
    })
  }
})

describe('seals', () => {
  const input = (size: number): SealInput => ({
    logName: firstKey.name,
    keyId: firstKey.keyId,
    sealId: derivedUuid('seal'),
    timeMicros: 1_767_323_045_123_456,
    recordHashes: Array.from({ length: size }, (_, i) => derived(`hash ${i}`, 32)),
    salts: Array.from({ length: size }, (_, i) => derived(`salt ${i}`, 16)),
  })
  const crypto = { sha256, sign: firstKey.sign }

  test('of every size: made at once, from the stored seal, and one by one, the cosigns are the same', () => {
    for (let size = 1; size <= 64; size++) {
      const { salts } = input(size)
      const { seal, cosigns: made } = sealRecords(input(size), crypto)
      expect(buildSeal(input(size), crypto)).toEqual(seal)
      expect(seal.leaves).toHaveLength(32 * size)
      expect(cosignsOfSeal(seal, salts, sha256)).toEqual(made)
      expect(salts.map((salt, i) => cosignOfLeaf(seal, i, salt, sha256))).toEqual(made)
    }
  })

  test('are signed once', () => {
    const messages: Uint8Array[] = []
    const sign = (message: Uint8Array) => {
      messages.push(message)
      return firstKey.sign(message)
    }
    sealRecords(input(64), { sha256, sign })
    expect(messages).toHaveLength(1)
  })

  test('the note text is fixed', () => {
    const root = new Uint8Array(32)
    const statement = { logName: 'orghub/log/x', sealId: derivedUuid('seal'), leafCount: 3, timeMicros: 7, root }
    expect(sealNoteText(statement)).toBe(
      `orghub/seal/v1\nlog orghub/log/x\nseal ${derivedUuid('seal')}\ntime 7\nleaves 3\nroot ${'A'.repeat(43)}=\n`,
    )
  })

  test.each<[string, Partial<SealInput>]>([
    ['no records', { recordHashes: [], salts: [] }],
    ['65 records', { recordHashes: input(65).recordHashes, salts: input(65).salts }],
    ['fewer salts', { salts: input(1).salts }],
    ['more salts', { salts: input(3).salts }],
    ['short hash', { recordHashes: [new Uint8Array(31), new Uint8Array(32)] }],
    ['short salt', { salts: [new Uint8Array(16), new Uint8Array(15)] }],
    ['log name with a newline', { logName: 'a\nseal b' }],
    ['log name with a space', { logName: 'a b' }],
    ['empty log name', { logName: '' }],
    ['short key id', { keyId: '00' }],
    ['fraction of a microsecond', { timeMicros: 0.5 }],
    ['negative time', { timeMicros: -1 }],
    ['no time', { timeMicros: Number.NaN }],
  ])('refuses %s', (_, change) => {
    const refusal = expect.objectContaining({ code: 'seal-malformed' })
    expect(() => buildSeal({ ...input(2), ...change }, crypto)).toThrow(refusal)
  })

  test('a stored seal that lost its form is refused', () => {
    const { seal } = sealRecords(input(2), crypto)
    const { salts } = input(2)
    const refusal = expect.objectContaining({ code: 'seal-malformed' })
    for (const length of [0, 31, 63, 65 * 32]) {
      expect(() => cosignsOfSeal({ ...seal, leaves: new Uint8Array(length) }, salts, sha256)).toThrow(refusal)
    }
    expect(() => cosignsOfSeal(seal, salts.slice(1), sha256)).toThrow(refusal)
    expect(() => cosignOfLeaf(seal, 2, salts[0]!, sha256)).toThrow(refusal)
    expect(() => cosignOfLeaf(seal, -1, salts[0]!, sha256)).toThrow(refusal)
    expect(() => cosignOfLeaf(seal, 0, new Uint8Array(8), sha256)).toThrow(refusal)
  })
})
