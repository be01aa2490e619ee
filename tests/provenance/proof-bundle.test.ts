import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  isProofBundle,
  type JsonValue,
  type KeyRing,
  ProvenanceError,
  parseKeyDocument,
  verifyProofBundle,
  verifyProofBundleSync,
} from '../../provenance/index.ts'
import { nodeCrypto, sha256, webCrypto } from './node-crypto.ts'
import { type BundleCase, ownBundleVectors, ownBundleVectorsUrl } from './own-bundle-vectors.ts'

const source = readFileSync(ownBundleVectorsUrl, 'utf8')
const { bundles } = JSON.parse(source) as { bundles: BundleCase[] }

function ringOf(keys: JsonValue): KeyRing {
  try {
    return parseKeyDocument({ keys }, sha256)
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    return new Map()
  }
}

test('writing the vectors again gives the same bytes', () => {
  expect(ownBundleVectors() === source).toBe(true)
})

test.each(bundles)('a bundle: $name', async ({ bundle, keys, failures }) => {
  const ring = ringOf(keys ?? bundle.public_keys ?? [])
  const result = verifyProofBundleSync(bundle, ring, nodeCrypto)
  expect(result.failures.map(({ check }) => check)).toEqual(failures)
  expect(result.verified).toBe(failures.length === 0)
  expect(await verifyProofBundle(bundle, ring, webCrypto)).toEqual(result)
  expect(isProofBundle(bundle)).toBe(true)
})

test.each([
  ['an altered record', 'the record does not have the stored hash'],
  ['content whose key was destroyed', 'content-unavailable: the content is gone with the key k1'],
  ['another seal id', '/seal/seal_id is not '],
  ['the note of another seal', '/seal/note is not the note that hash and cosignature give'],
  ['another leaf', '/inclusion_proof/leaf_hash is not the hash of /seal/note'],
  ['another hash in the path', 'the seal does not lead to the root of the log'],
  ['another size of the log', '/inclusion_proof/tree_size is 2, but the checkpoint is of 3 leaves'],
  ['another signature of the checkpoint', '/checkpoint: no known key of the log'],
  ['another earlier root', '/consistency_from: the checkpoint does not continue this state of the log'],
  ['a hash of 31 bytes', '/consistency_from: '],
  ['a checkpoint of another log', '/public_keys/0 is not of the log'],
  ['without the key of the seal', '/public_keys has no key'],
  ['a key that no key introduces', '/public_keys has 2 keys that no key introduces, not 1'],
  ['a key with another introduction', 'did not sign its succession'],
  ['an altered key', '/public_keys/0/key_id is not that of its name and public_key'],
  ['without checkpoint', '/checkpoint is missing, or not what it must be'],
  ['an unknown member', '"consistency" is not a member of a bundle of version 1'],
  ['a forged result of a verification', '/record: "verification" is not a member of a bundle of version 1'],
  ['is_purged as a text', '/record/is_purged is missing, or not what it must be'],
  ['an unknown member of a key', '/public_keys/0: "owner" is not a member of a bundle of version 1'],
  ["another record's hash outside", '/provenance_hash is not that of /record'],
])('%s is named: %s', (name, message) => {
  const { bundle, keys } = bundles.find((each) => each.name === name)!
  const { failures } = verifyProofBundleSync(bundle, ringOf(keys ?? bundle.public_keys ?? []), nodeCrypto)
  expect(failures.map(({ detail }) => detail).join('\n')).toContain(message)
})

test.each([null, 7, 'x', [], {}])('%j is no bundle', (json) => {
  expect(verifyProofBundleSync(json, new Map(), nodeCrypto).verified).toBe(false)
})
