import { writeFileSync } from 'node:fs'
import { toBase64, utf8 } from '../../provenance/bytes.ts'
import {
  type BundleChecks,
  checkpointText,
  consistencyPath,
  decodeCosign,
  encodeCosign,
  inclusionPath,
  type JsonObject,
  type JsonValue,
  keyDocumentEntry,
  logLeafHash,
  merkleRoot,
  sealNoteOfRecord,
  signedNote,
  successionNote,
} from '../../provenance/index.ts'
import { firstKey, type LogKey, plainTexts, type SealedTexts, sealTexts, secondKey, strangeKey } from './fixtures.ts'
import { sha256 } from './node-crypto.ts'
import { layOut } from './own-vectors.ts'

export const ownBundleVectorsUrl = new URL('../../provenance/vectors/own-bundles.json', import.meta.url)

/** A bundle, and the checks that must fail in that order. The keys are those of the bundle unless `keys` has others. */
export type BundleCase = {
  readonly name: string
  readonly failures: readonly (keyof BundleChecks)[]
  readonly keys?: readonly JsonValue[]
  readonly bundle: JsonObject
}

const timeMicros = 1_767_323_050_000_000
const texts = plainTexts(5)
const seals = [texts.slice(0, 1), texts.slice(1, 4), texts.slice(4)].map((each, i) =>
  sealTexts(each, firstKey, `bundle ${i}`),
)
const notes = seals.map((sealed) => noteOf(firstKey, sealed))
const leaves = notes.map((note) => logLeafHash(note, sha256))
const succession = successionNote(
  { logName: firstKey.name, fromKeyId: firstKey.keyId, to: secondKey, timeMicros },
  { sha256, sign: firstKey.sign },
)
const keys = [keyDocumentEntry(firstKey, sha256), keyDocumentEntry({ ...secondKey, succession }, sha256)]

function noteOf(key: LogKey, { items, hashes }: SealedTexts): string {
  return sealNoteOfRecord(key.name, decodeCosign(items[0]!.cosign), hashes[0]!, sha256)
}

function checkpointBy(key: LogKey, treeSize = 3, logName = key.name): string {
  const root = merkleRoot(leaves.slice(0, treeSize), sha256)
  const text = checkpointText({ logName, treeSize, root, timeMicros })
  return signedNote(text, logName, key.keyId, key.sign(utf8(text)))
}

const item = seals[1]!.items[1]!
const record: JsonObject = {
  ...(JSON.parse(item.record) as JsonObject),
  is_purged: false,
  provenance_hash: item.hash,
  provenance_cosign: item.cosign,
}

/** The bundle of the second record of the second of three seals, after a rotation of the log's key. */
const good = {
  bundle_version: 1,
  record,
  provenance_hash: item.hash,
  provenance_cosign: item.cosign,
  seal: { seal_id: seals[1]!.seal.sealId, leaf_index: 1, leaf_count: 3, note: notes[1]! },
  inclusion_proof: {
    log_index: 1,
    tree_size: 3,
    leaf_hash: toBase64(leaves[1]!),
    path: inclusionPath(leaves, 1, sha256).map(toBase64),
  },
  checkpoint: checkpointBy(secondKey),
  public_keys: keys as unknown as readonly JsonObject[],
  how_to_verify: 'hub verify FILE',
}

type Bundle = typeof good

/** The state of the log with two seals, which the checkpoint continues. */
const earlier = {
  tree_size: 2,
  root_hash: toBase64(merkleRoot(leaves.slice(0, 2), sha256)),
  path: consistencyPath(leaves, 2, sha256).map(toBase64),
}
const withEarlier = (changes: JsonObject): JsonObject => ({ ...good, consistency_from: { ...earlier, ...changes } })

const withSeal = (changes: JsonObject): JsonObject => ({ ...good, seal: { ...good.seal, ...changes } })
const withProof = (changes: JsonObject): JsonObject => ({
  ...good,
  inclusion_proof: { ...good.inclusion_proof, ...changes },
})
const withKey = (changes: JsonObject): JsonObject => ({
  ...good,
  public_keys: [{ ...good.public_keys[0]!, ...changes }, ...good.public_keys.slice(1)],
})
const without = (member: keyof Bundle): JsonObject =>
  Object.fromEntries(Object.entries(good).filter(([name]) => name !== member))
/** The bundle with a hash or cosignature that differs, at both places. */
const withProvenance = (changes: { provenance_hash?: string; provenance_cosign?: string }): JsonObject => ({
  ...good,
  ...changes,
  record: { ...record, ...changes },
})
/** The text with another digit or letter at a place. */
const flipped = (text: string, at: number) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)

const all: readonly (keyof BundleChecks)[] = [
  ...(['well_formed', 'keys_linked', 'provenance_hash_matches', 'provenance_cosign_valid'] as const),
  ...(['schema_version_supported', 'seal_matches', 'seal_in_log', 'checkpoint_signed'] as const),
]

function bundleCases(): BundleCase[] {
  return [
    { name: 'untouched', failures: [], bundle: good },
    { name: 'untouched, with pinned keys', failures: [], keys: [...good.public_keys], bundle: good },
    { name: 'of a purged record', failures: [], bundle: { ...good, record: { ...record, is_purged: true } } },
    ...malformedCases(),
    ...recordCases(),
    ...sealCases(),
    ...logCases(),
    ...earlierCases(),
    ...keyCases(),
  ]
}

function malformedCases(): BundleCase[] {
  return [
    ...Object.keys(good).map((name) => ({
      name: `without ${name}`,
      failures: all,
      bundle: without(name as keyof Bundle),
    })),
    { name: 'a later version', failures: all, bundle: { ...good, bundle_version: 2 } },
    { name: 'an unknown member', failures: all, bundle: { ...good, consistency: 1 } },
    { name: 'an earlier state that is a number', failures: all, bundle: { ...good, consistency_from: 2 } },
    { name: 'an earlier state that is null', failures: all, bundle: { ...good, consistency_from: null } },
    { name: 'an unknown member of the earlier state', failures: all, bundle: withEarlier({ checkpoint: 'x' }) },
    { name: 'an earlier state without a path', failures: all, bundle: withEarlier({ path: null }) },
    { name: 'an unknown member of the seal', failures: all, bundle: withSeal({ root: '' }) },
    { name: 'no note of the seal', failures: all, bundle: { ...good, seal: { ...good.seal, note: null } } },
    { name: 'an index that is no number', failures: all, bundle: withProof({ log_index: '1' }) },
    { name: 'a negative index', failures: all, bundle: withProof({ log_index: -1 }) },
    {
      name: 'a forged result of a verification',
      failures: all,
      bundle: { ...good, record: { ...record, verification: { verified: true } } },
    },
    { name: 'is_purged as a text', failures: all, bundle: { ...good, record: { ...record, is_purged: 'no' } } },
    { name: 'is_purged as null', failures: all, bundle: { ...good, record: { ...record, is_purged: null } } },
    { name: 'an unknown member of a key', failures: all, bundle: withKey({ owner: 'x' }) },
    { name: 'no keys', failures: all, bundle: { ...good, public_keys: [] } },
    { name: "another record's hash outside", failures: all, bundle: { ...good, provenance_hash: `${item.hash}0` } },
    { name: 'a cosignature that differs outside', failures: all, bundle: { ...good, provenance_cosign: 'omhc1.' } },
  ]
}

function recordCases(): BundleCase[] {
  const cosign = decodeCosign(item.cosign)
  const resalted = encodeCosign({ ...cosign, salt: new Uint8Array(16) })
  const resigned = encodeCosign({ ...cosign, signature: new Uint8Array(64) })
  return [
    {
      name: 'an altered record',
      failures: ['provenance_hash_matches'],
      bundle: { ...good, record: { ...record, title: 'x' } },
    },
    {
      name: 'an added member of the record',
      failures: ['provenance_hash_matches'],
      bundle: { ...good, record: { ...record, x: 1 } },
    },
    {
      name: 'content whose key was destroyed',
      failures: ['provenance_hash_matches'],
      bundle: { ...good, record: { ...record, content: 'unavailable', content_key_id: 'k1' } },
    },
    {
      name: 'an unsupported schema',
      failures: ['provenance_hash_matches', 'schema_version_supported'],
      bundle: { ...good, record: { ...record, schema_version: '9' } },
    },
    {
      name: 'another hash',
      failures: ['provenance_hash_matches', 'provenance_cosign_valid', 'seal_matches'],
      bundle: withProvenance({ provenance_hash: seals[0]!.items[0]!.hash }),
    },
    {
      name: 'another salt',
      failures: ['provenance_cosign_valid', 'seal_matches'],
      bundle: withProvenance({ provenance_cosign: resalted }),
    },
    {
      name: 'another signature of the seal',
      failures: ['provenance_cosign_valid', 'seal_matches'],
      bundle: withProvenance({ provenance_cosign: resigned }),
    },
    {
      name: 'a cosignature that cannot be read',
      failures: ['keys_linked', 'provenance_cosign_valid', 'seal_matches'],
      bundle: withProvenance({ provenance_cosign: 'omhc1.AA' }),
    },
  ]
}

function sealCases(): BundleCase[] {
  return [
    {
      name: 'another seal id',
      failures: ['seal_matches'],
      bundle: withSeal({ seal_id: seals[0]!.seal.sealId }),
    },
    { name: 'another leaf index', failures: ['seal_matches'], bundle: withSeal({ leaf_index: 0 }) },
    { name: 'another leaf count', failures: ['seal_matches'], bundle: withSeal({ leaf_count: 2 }) },
    {
      name: 'the note of another seal',
      failures: ['seal_matches', 'seal_in_log'],
      bundle: withSeal({ note: notes[0]! }),
    },
    { name: 'no note', failures: ['seal_matches', 'seal_in_log'], bundle: withSeal({ note: 'x' }) },
  ]
}

function logCases(): BundleCase[] {
  const { path } = good.inclusion_proof
  const { checkpoint } = good
  return [
    { name: 'another place in the log', failures: ['seal_in_log'], bundle: withProof({ log_index: 0 }) },
    { name: 'a place beyond the log', failures: ['seal_in_log'], bundle: withProof({ log_index: 3 }) },
    { name: 'another size of the log', failures: ['seal_in_log'], bundle: withProof({ tree_size: 2 }) },
    { name: 'another leaf', failures: ['seal_in_log'], bundle: withProof({ leaf_hash: toBase64(leaves[0]!) }) },
    { name: 'another hash in the path', failures: ['seal_in_log'], bundle: withProof({ path: [path[1]!, path[0]!] }) },
    { name: 'a shorter path', failures: ['seal_in_log'], bundle: withProof({ path: path.slice(1) }) },
    { name: 'a path that is not base64', failures: ['seal_in_log'], bundle: withProof({ path: ['x', path[1]!] }) },
    {
      name: 'a checkpoint of a smaller log',
      failures: ['seal_in_log'],
      bundle: { ...good, checkpoint: checkpointBy(secondKey, 2) },
    },
    {
      name: 'another time in the checkpoint',
      failures: ['checkpoint_signed'],
      bundle: { ...good, checkpoint: checkpoint.replace(`${timeMicros}`, `${timeMicros + 1}`) },
    },
    {
      name: 'another signature of the checkpoint',
      failures: ['checkpoint_signed'],
      bundle: { ...good, checkpoint: flipped(checkpoint, checkpoint.length - 10) },
    },
    {
      name: 'a checkpoint of another log',
      failures: ['keys_linked', 'checkpoint_signed'],
      bundle: { ...good, checkpoint: checkpointBy(strangeKey) },
    },
    {
      name: 'a checkpoint that cannot be read',
      failures: ['keys_linked', 'seal_in_log', 'checkpoint_signed'],
      bundle: { ...good, checkpoint: 'x' },
    },
  ]
}

function earlierCases(): BundleCase[] {
  const ofOne = merkleRoot(leaves.slice(0, 1), sha256)
  const ofAll = { tree_size: 3, root_hash: toBase64(merkleRoot(leaves, sha256)), path: [] }
  const failures = ['seal_in_log'] as const
  return [
    { name: 'with an earlier state of the log', failures: [], bundle: withEarlier({}) },
    { name: 'with the same state of the log', failures: [], bundle: withEarlier(ofAll) },
    { name: 'another earlier root', failures, bundle: withEarlier({ root_hash: toBase64(ofOne) }) },
    { name: 'another earlier size', failures, bundle: withEarlier({ tree_size: 1 }) },
    { name: 'an earlier state of no leaves', failures, bundle: withEarlier({ tree_size: 0, path: [] }) },
    { name: 'an earlier state that is later', failures, bundle: withEarlier({ tree_size: 4 }) },
    { name: 'no path from the earlier state', failures, bundle: withEarlier({ path: [] }) },
    { name: 'a longer path', failures, bundle: withEarlier({ path: [...earlier.path, ...earlier.path] }) },
    { name: 'an earlier root that is not base64', failures, bundle: withEarlier({ root_hash: 'x' }) },
    { name: 'a hash of 31 bytes', failures, bundle: withEarlier({ path: [toBase64(leaves[2]!.slice(1))] }) },
  ]
}

function keyCases(): BundleCase[] {
  const [first, second] = good.public_keys as unknown as [JsonObject, JsonObject]
  const foreign = keyDocumentEntry(strangeKey, sha256) as unknown as JsonObject
  const signedByKey: (keyof BundleChecks)[] = ['provenance_cosign_valid', 'seal_matches', 'checkpoint_signed']
  return [
    {
      name: 'an altered key',
      failures: ['keys_linked', ...signedByKey],
      bundle: { ...good, public_keys: [{ ...first, key_id: second.key_id! }, second] },
    },
    {
      name: 'an altered key, with pinned keys',
      failures: ['keys_linked'],
      keys: [...good.public_keys],
      bundle: { ...good, public_keys: [{ ...first, key_id: second.key_id! }, second] },
    },
    {
      name: 'without the key of the seal',
      failures: ['keys_linked', 'provenance_cosign_valid', 'seal_matches'],
      bundle: { ...good, public_keys: [second] },
    },
    {
      name: 'without the key of the checkpoint',
      failures: ['checkpoint_signed'],
      bundle: { ...good, public_keys: [first] },
    },
    {
      name: 'a key that no key introduces',
      failures: ['keys_linked'],
      bundle: {
        ...good,
        public_keys: [first, Object.fromEntries(Object.entries(second).filter(([name]) => name !== 'succession'))],
      },
    },
    {
      name: 'a key with another introduction',
      failures: ['keys_linked'],
      bundle: { ...good, public_keys: [first, { ...second, succession: flipped(succession, succession.length - 10) }] },
    },
    {
      name: 'a key of another log',
      failures: ['keys_linked'],
      bundle: { ...good, public_keys: [first, second, foreign] },
    },
    {
      name: 'pinned keys of another log',
      failures: signedByKey,
      keys: [foreign],
      bundle: good,
    },
  ]
}

/** The text of own-bundles.json: everything follows from constants, so writing it again changes nothing. */
export function ownBundleVectors(): string {
  return layOut({
    about: ['Written by tests/provenance/own-bundle-vectors.ts; docs/verification.md explains the checks.'],
    bundles: bundleCases(),
  })
}

if (import.meta.main) writeFileSync(ownBundleVectorsUrl, ownBundleVectors())
