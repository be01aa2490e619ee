import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  canonicalize,
  decodeCosign,
  itemOfResponse,
  type JsonObject,
  type JsonValue,
  ProvenanceError,
  parseKeyDocument,
  parseNote,
  parseRecordHash,
  parseVkey,
  verifyRecordSync,
  verifyRecords,
  verifyRecordsSync,
} from '../../provenance/index.ts'
import { firstKey, plainRecord, plainTexts, sealTexts, secondKey } from './fixtures.ts'
import { nodeCrypto, sha256, webCrypto } from './node-crypto.ts'

const keys = new Map([firstKey, secondKey].map((key) => [key.keyId, key]))

describe('many records', () => {
  const a = sealTexts(plainTexts(64), firstKey, 'a').items
  const b = sealTexts(plainTexts(71).slice(64), secondKey, 'b').items

  test('cost one signature verification for each seal', async () => {
    let count = 0
    const verifyEd25519: typeof nodeCrypto.verifyEd25519 = (...args) => {
      count++
      return nodeCrypto.verifyEd25519(...args)
    }
    const results = verifyRecordsSync([...a, ...b], keys, { sha256, verifyEd25519 })
    expect(results.every((result) => result.verified)).toBe(true)
    expect(results).toHaveLength(71)
    expect(count).toBe(2)
    expect(await verifyRecords([...a, ...b], keys, webCrypto)).toEqual(results)
  })

  test('are judged as each would be alone', () => {
    const mixed = a.flatMap((item, i) => [
      item,
      { ...item, hash: a[(i + 1) % 64]!.hash },
      { ...item, cosign: a[(i + 1) % 64]!.cosign },
      { ...item, record: plainRecord(i + 1) },
      { ...item, cosign: b[i % 7]!.cosign },
    ])
    const alone = mixed.map((item) => verifyRecordSync({ ...item, keys }, nodeCrypto))
    expect(verifyRecordsSync(mixed, keys, nodeCrypto)).toEqual(alone)
    expect(alone.filter((result) => result.verified)).toHaveLength(64)
  })
})

describe('a record as answered', () => {
  const record: JsonObject = { ...plainRecord(0), content: { provenance_hash: 'mine', is_purged: 1 } }
  const { hash, cosign } = sealTexts([canonicalize(record)], firstKey, 'answer').items[0]!
  const answer = { ...record, is_purged: false, provenance_hash: hash, provenance_cosign: cosign, verification: {} }

  test('verifies without its unhashed members, which count only at the top', () => {
    expect(verifyRecordSync({ ...itemOfResponse(answer), keys }, nodeCrypto).verified).toBe(true)
    const altered = { ...answer, content: { provenance_hash: 'mine' } }
    expect(verifyRecordSync({ ...itemOfResponse(altered), keys }, nodeCrypto).checks.provenance_hash_matches).toBe(
      false,
    )
  })

  test('without provenance fails both checks', () => {
    const codes = verifyRecordSync({ ...itemOfResponse(record), keys }, nodeCrypto).failures.map(({ code }) => code)
    expect(codes).toEqual(['hash-malformed', 'cosign-malformed'])
  })

  test('a member from the prototype is not the record’s', () => {
    const bare = Object.create({ schema_version: '1.0' }) as JsonObject
    const { checks } = verifyRecordSync({ record: bare, hash, cosign, keys }, nodeCrypto)
    expect(checks.schema_version_supported).toBe(false)
  })

  test('any change to any member is noticed', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(record)), fc.jsonValue(), (member, value) => {
        const altered = { ...answer, [member]: value as JsonValue }
        const isSame = canonicalize(value as JsonValue) === canonicalize(record[member]!)
        const { checks } = verifyRecordSync({ ...itemOfResponse(altered), keys }, nodeCrypto)
        expect(checks.provenance_hash_matches).toBe(isSame)
        expect(checks.provenance_cosign_valid).toBe(true)
      }),
    )
  })
})

describe('hostile input', () => {
  const { items } = sealTexts(plainTexts(3), firstKey, 'hostile')
  const { vkey: _, ...entry } = { vkey: '', key_id: firstKey.keyId, name: firstKey.name, algorithm: 'Ed25519' }
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.base64String().map((body) => `omhc1.${body}`),
    fc.tuple(fc.nat(500), fc.string({ maxLength: 3 })).map(([at, insert]) => {
      const { cosign } = items[0]!
      return cosign.slice(0, at % cosign.length) + insert + cosign.slice(at % cosign.length)
    }),
  )

  test.each<[string, (input: string) => unknown]>([
    ['decodeCosign', decodeCosign],
    ['parseNote', parseNote],
    ['parseRecordHash', parseRecordHash],
    ['parseVkey', (input) => parseVkey(input, sha256)],
  ])('%s throws nothing but ProvenanceError', (_name, parse) => {
    fc.assert(
      fc.property(text, (input) => {
        try {
          parse(input)
        } catch (error) {
          expect(error).toBeInstanceOf(ProvenanceError)
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('parseKeyDocument throws nothing but ProvenanceError', () => {
    const entries = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom('vkey', 'name', 'public_key'), text))
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record({ keys: fc.array(entries) })), (input) => {
        const documents = [input, { keys: [{ ...entry, ...(input as object) }] }]
        for (const document of documents as JsonValue[]) {
          try {
            parseKeyDocument(document, sha256)
          } catch (error) {
            expect(error).toBeInstanceOf(ProvenanceError)
          }
        }
      }),
    )
  })

  test('verifying never throws, and never verifies', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.json()), text, text, (record, hash, cosign) => {
        for (const item of [
          { record, hash, cosign },
          { ...items[0]!, cosign: `${cosign}` },
          { ...items[0]!, record },
        ]) {
          if (item.cosign === items[0]!.cosign && item.record === items[0]!.record) continue
          expect(verifyRecordSync({ ...item, keys }, nodeCrypto).verified).toBe(false)
        }
      }),
      { numRuns: 1000 },
    )
  })
})

test('a record hash reads back', () => {
  const { hash } = sealTexts(plainTexts(1), firstKey, 'hash').items[0]!
  expect(parseRecordHash(hash)).toHaveLength(32)
  for (const bad of [
    '',
    hash.slice(0, -1),
    ` ${hash}`,
    hash.toUpperCase(),
    `${hash}\n`,
    hash.replace('sha256', 'sha512'),
  ]) {
    expect(() => parseRecordHash(bad)).toThrow(expect.objectContaining({ code: 'hash-malformed' }))
  }
})
