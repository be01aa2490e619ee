import { writeFileSync } from 'node:fs'
import { toHex } from '../../provenance/bytes.ts'
import { canonicalize, type JsonObject, keyDocumentEntry, merkleRoot, sealNoteText } from '../../provenance/index.ts'
import { leavesOfSeal } from '../../provenance/seal.ts'
import { firstKey, type LogKey, plainTexts, type SealedTexts, sealTexts, secondKey } from './fixtures.ts'
import { sha256 } from './node-crypto.ts'
import { keyDocumentCases, verificationCases } from './own-vectors-cases.ts'
import { numbers, records } from './own-vectors-records.ts'

export const ownVectorsUrl = new URL('../../provenance/vectors/own-vectors.json', import.meta.url)

/** The text of own-vectors.json: everything in it follows from constants, so writing it again changes nothing. */
export function ownVectors(): string {
  const texts = Object.values(records).map((record) => canonicalize(record))
  const five = sealTexts(texts, firstKey, 'five')
  const seals: [string, LogKey, SealedTexts][] = [
    ['one', firstKey, sealTexts(texts.slice(0, 1), firstKey, 'one')],
    ['two', firstKey, sealTexts(texts.slice(0, 2), firstKey, 'two')],
    ['three, by the second key', secondKey, sealTexts(texts.slice(1, 4), secondKey, 'three')],
    ['five', firstKey, five],
    ['sixty-four', firstKey, sealTexts(plainTexts(64), firstKey, 'sixty-four')],
  ]
  return layOut({
    about: [
      'Written by tests/provenance/own-vectors.ts; docs/provenance.md explains every value. Binary is hexadecimal.',
    ],
    seeds: [firstKey, secondKey].map(({ keyId, seed }) => ({ key_id: keyId, ed25519_seed: seed })),
    keys: [firstKey, secondKey].map((key) => keyDocumentEntry(key, sha256)),
    numbers: numbers(),
    records: Object.entries(records).map(([name, record], i) => ({
      name,
      record,
      canonical: texts[i]!,
      provenance_hash: five.items[i]!.hash,
    })),
    seals: seals.map(([name, key, sealed]) => sealVector(name, key, sealed)),
    verifications: verificationCases(five),
    key_documents: keyDocumentCases(),
  })
}

function sealVector(name: string, key: LogKey, { seal, salts, hashes, items }: SealedTexts): JsonObject {
  const leaves = leavesOfSeal(seal)
  const { sealId, timeMicros, keyId, signature } = seal
  const root = merkleRoot(leaves, sha256)
  return {
    name,
    key_id: keyId,
    seal_id: sealId,
    time_micros: timeMicros,
    leaf_count: leaves.length,
    root: toHex(root),
    note_text: sealNoteText({ logName: key.name, sealId, leafCount: leaves.length, timeMicros, root }),
    signature: toHex(signature),
    records: items.map((item, i) => ({
      canonical: item.record,
      record_hash: toHex(hashes[i]!),
      salt: toHex(salts[i]!),
      leaf: toHex(leaves[i]!),
      cosign: item.cosign,
    })),
  }
}

/** One case a line, so that a difference shows the case. */
export function layOut(lists: Readonly<Record<string, readonly unknown[]>>): string {
  const parts = Object.entries(lists).map(
    ([name, cases]) => `  "${name}": [\n${cases.map((entry) => `    ${JSON.stringify(entry)}`).join(',\n')}\n  ]`,
  )
  return `{\n${parts.join(',\n')}\n}\n`
}

if (import.meta.main) writeFileSync(ownVectorsUrl, ownVectors())
