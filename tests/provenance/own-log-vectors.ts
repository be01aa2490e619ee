import { writeFileSync } from 'node:fs'
import { toBase64, utf8 } from '../../provenance/bytes.ts'
import {
  checkpointText,
  consistencyPath,
  decodeCosign,
  inclusionPath,
  logLeafHash,
  merkleRoot,
  sealNoteOfRecord,
  signedNote,
  subtreesOf,
} from '../../provenance/index.ts'
import { firstKey, plainTexts, sealTexts } from './fixtures.ts'
import { sha256 } from './node-crypto.ts'
import { layOut } from './own-vectors.ts'

export const ownLogVectorsUrl = new URL('../../provenance/vectors/own-log.json', import.meta.url)

const sealCount = 9
const { name: logName, keyId, sign } = firstKey
const base64 = (hashes: readonly Uint8Array[]) => hashes.map(toBase64)

/** The text of own-log.json, a log of nine seals: everything follows from constants, so writing it again changes nothing. */
export function ownLogVectors(): string {
  const texts = plainTexts(2 * sealCount)
  // Of one record and of two, in turns.
  const seals = Array.from({ length: sealCount }, (_, i) =>
    sealTexts(texts.slice(2 * i, 2 * i + 1 + (i % 2)), firstKey, `log ${i}`),
  ).map(({ items, hashes }) => {
    const { hash, cosign } = items.at(-1)!
    const note = sealNoteOfRecord(logName, decodeCosign(cosign), hashes.at(-1)!, sha256)
    return { provenance_hash: hash, cosign, note, leaf: logLeafHash(note, sha256) }
  })
  const leaves = seals.map(({ leaf }) => leaf)
  const sizes = Array.from({ length: sealCount + 1 }, (_, size) => size)
  const rootOf = (begin: number, end: number) => merkleRoot(leaves.slice(begin, end), sha256)
  const rootsOf = (begin: number, end: number) =>
    subtreesOf(begin, end).map(({ height, index }) => rootOf(index * 2 ** height, (index + 1) * 2 ** height))
  const pairs = sizes.slice(1).flatMap((to) => sizes.slice(1, to + 1).map((from) => [from, to] as const))
  return layOut({
    about: [
      'Written by tests/provenance/own-log-vectors.ts; docs/provenance-log.md explains every value. Hashes are base64.',
    ],
    keys: [{ key_id: keyId, name: logName, public_key: toBase64(firstKey.publicKey) }],
    seals: seals.map((seal) => ({ ...seal, leaf: toBase64(seal.leaf) })),
    roots: sizes.map((size) => toBase64(rootOf(0, size))),
    checkpoints: sizes.map((treeSize) => {
      const timeMicros = 1_767_323_050_000_000 + treeSize
      const text = checkpointText({ logName, treeSize, root: rootOf(0, treeSize), timeMicros })
      return { tree_size: treeSize, time_micros: timeMicros, note: signedNote(text, logName, keyId, sign(utf8(text))) }
    }),
    inclusion: sizes.flatMap((size) =>
      leaves.slice(0, size).map((_, index) => ({
        ...{ index, tree_size: size },
        path: base64(inclusionPath(leaves.slice(0, size), index, sha256)),
      })),
    ),
    consistency: pairs.map(([from, to]) => ({
      ...{ from, to },
      path: base64(consistencyPath(leaves.slice(0, to), from, sha256)),
    })),
    ranges: pairs.map(([from, to]) => ({
      ...{ from: from - 1, to, tree_size: sealCount },
      left: base64(rootsOf(0, from - 1)),
      right: base64(rootsOf(to, sealCount)),
    })),
  })
}

if (import.meta.main) writeFileSync(ownLogVectorsUrl, ownLogVectors())
