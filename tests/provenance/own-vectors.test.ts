import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fromHex, toHex, utf8 } from '../../provenance/bytes.ts'
import {
  type Checks,
  canonicalize,
  cosignOfLeaf,
  decodeCosign,
  formatNote,
  formatRecordHash,
  type JsonObject,
  leafHash,
  parseKeyDocument,
  parseKeyDocumentAsync,
  parseNote,
  recordHash,
  type Seal,
  sealNoteText,
  verifyNoteSync,
  verifyRecord,
  verifyRecordSync,
  verifyRecords,
  verifyRecordsSync,
} from '../../provenance/index.ts'
import { nodeCrypto, sha256, webCrypto } from './node-crypto.ts'
import { ownVectors, ownVectorsUrl } from './own-vectors.ts'
import type { VerificationCase } from './own-vectors-cases.ts'

type SealVector = {
  name: string
  key_id: string
  seal_id: string
  time_micros: number
  leaf_count: number
  root: string
  note_text: string
  signature: string
  records: { canonical: string; record_hash: string; salt: string; leaf: string; cosign: string }[]
}

type OwnVectors = {
  keys: JsonObject[]
  numbers: [string, string][]
  records: { name: string; record: JsonObject; canonical: string; provenance_hash: string }[]
  seals: SealVector[]
  verifications: VerificationCase[]
  key_documents: { name: string; document: JsonObject }[]
}

const source = readFileSync(ownVectorsUrl, 'utf8')
const vectors = JSON.parse(source) as OwnVectors
const keys = parseKeyDocument({ keys: vectors.keys }, sha256)

test('writing the vectors again gives the same bytes', () => {
  expect(ownVectors() === source).toBe(true)
})

test.each(vectors.records)('record: $name', ({ record, canonical, provenance_hash }) => {
  expect(canonicalize(record)).toBe(canonical)
  expect(formatRecordHash(recordHash(canonical, sha256))).toBe(provenance_hash)
})

test('numbers', () => {
  expect(vectors.numbers.length).toBeGreaterThan(500)
  for (const [bits, text] of vectors.numbers) expect(canonicalize(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text)
})

describe.each(vectors.seals)('seal: $name', (vector) => {
  const key = keys.get(vector.key_id)!
  const items = vector.records.map(({ canonical, record_hash, cosign }) => ({
    record: canonical,
    hash: `sha256:${record_hash}`,
    cosign,
  }))

  test('hashes, leaves, note and cosigns', () => {
    const { seal_id: sealId, leaf_count: leafCount, time_micros: timeMicros } = vector
    const root = fromHex(vector.root)
    expect(sealNoteText({ logName: key.name, sealId, leafCount, timeMicros, root })).toBe(vector.note_text)
    const leaves = fromHex(vector.records.map(({ leaf }) => leaf).join(''))
    const seal: Seal = { sealId, keyId: key.keyId, timeMicros, leaves, signature: fromHex(vector.signature) }
    for (const [i, record] of vector.records.entries()) {
      const salt = fromHex(record.salt)
      expect(toHex(recordHash(record.canonical, sha256))).toBe(record.record_hash)
      expect(toHex(leafHash(salt, fromHex(record.record_hash), sha256))).toBe(record.leaf)
      expect(cosignOfLeaf(seal, i, salt, sha256)).toBe(record.cosign)
      expect(decodeCosign(record.cosign)).toMatchObject({ sealId, leafCount, leafIndex: i, timeMicros })
    }
  })

  test('the signature is that of a C2SP signed note', () => {
    const keyHash = fromHex(key.keyId).subarray(0, 4)
    const signatures = [{ name: key.name, keyHash, signature: fromHex(vector.signature) }]
    const note = parseNote(formatNote({ text: vector.note_text, signatures }))
    expect(verifyNoteSync(note, [key], nodeCrypto)).toBe(true)
  })

  test('every record verifies, in Node and by WebCrypto', async () => {
    const results = verifyRecordsSync(items, keys, nodeCrypto)
    expect(results.filter((result) => result.verified)).toHaveLength(vector.leaf_count)
    expect(await verifyRecords(items, keys, webCrypto)).toEqual(results)
  })
})

describe('verifications', () => {
  test.each(vectors.verifications)('$name', async ({ record, hash, cosign, failures }) => {
    const checks: Checks = {
      provenance_hash_matches: true,
      provenance_cosign_valid: true,
      schema_version_supported: true,
      ...Object.fromEntries(failures.map(([check]) => [check, false])),
    }
    const result = verifyRecordSync({ record, hash, cosign, keys }, nodeCrypto)
    expect(result.failures.map(({ check, code }) => [check, code])).toEqual(failures)
    expect(result.checks).toEqual(checks)
    expect(result.verified).toBe(failures.length === 0)
    expect(await verifyRecord({ record, hash, cosign, keys }, webCrypto)).toEqual(result)
  })
})

describe('key documents', () => {
  test('the published one reads the same in both runtimes', async () => {
    expect(keys.size).toBe(2)
    expect(await parseKeyDocumentAsync({ keys: vectors.keys }, webCrypto.sha256)).toEqual(keys)
  })

  test.each(vectors.key_documents)('refused: $name', async ({ document }) => {
    const refusal = expect.objectContaining({ code: 'key-malformed' })
    expect(() => parseKeyDocument(document, sha256)).toThrow(refusal)
    await expect(parseKeyDocumentAsync(document, webCrypto.sha256)).rejects.toThrow(refusal)
  })
})

test('the text of a note is ASCII, whatever the record holds', () => {
  for (const { note_text } of vectors.seals) expect(utf8(note_text)).toHaveLength(note_text.length)
})
