import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  keyIdOf,
  type SkillManifestExpectation,
  signSkillManifest,
  type VerifierKey,
  verifySkillManifest,
  verifySkillManifestSync,
} from '../../provenance/index.ts'
import type { JsonValue } from '../../provenance/json.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'

const logName = 'orghub/log/test'
const signedAtMs = Date.parse('2026-07-01T00:00:00Z')
const manifest = { version: 1, tenant: 'acme', connector_id: 'con_1', skills: [{ skill_id: 'a', name: 'ä' }] }

function makeKey(name = logName) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32))
  const key: VerifierKey = {
    keyId: keyIdOf(name, raw, nodeCrypto.sha256),
    name,
    publicKey: raw,
    createdAt: '2026-01-01T00:00:00Z',
  }
  const signed = signSkillManifest(manifest, {
    logName: name,
    keyId: key.keyId,
    timeMicros: signedAtMs * 1000,
    sha256: nodeCrypto.sha256,
    sign: (message) => sign(null, message, privateKey),
  })
  return { key, signed }
}

const { key, signed } = makeKey()
const ringOf = (...keys: VerifierKey[]) => new Map(keys.map((each) => [each.keyId, each]))
const check = (value: JsonValue, expected: SkillManifestExpectation = {}, keys = ringOf(key)) =>
  verifySkillManifestSync(value, keys, nodeCrypto, expected)
const problem = (...parts: Parameters<typeof check>) => {
  const result = check(...parts)
  return result.verified ? 'none' : result.problem
}

test('verifies as it is, whatever the order of its members, in any runtime', async () => {
  const good = { verified: true, timeMicros: signedAtMs * 1000, keyId: key.keyId }
  expect(check(signed)).toEqual(good)
  expect(check(Object.fromEntries(Object.entries(signed).reverse()))).toEqual(good)
  expect(check(JSON.parse(JSON.stringify(signed, null, 2)))).toEqual(good)
  const crypto = {
    sha256: async (bytes: Uint8Array) =>
      new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', bytes.slice())),
    verifyEd25519: async (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) =>
      globalThis.crypto.subtle.verify(
        'Ed25519',
        await globalThis.crypto.subtle.importKey('raw', publicKey.slice(), 'Ed25519', false, ['verify']),
        signature.slice(),
        message.slice(),
      ),
  }
  expect(await verifySkillManifest(signed, ringOf(key), crypto)).toEqual(good)
})

test.each<[string, JsonValue, RegExp]>([
  ['a changed skill', { ...signed, skills: [] }, /not what was signed/],
  ['a further member', { ...signed, more: 1 }, /not what was signed/],
  ['no signature', manifest, /no signature/],
  ['an array', [], /no signature/],
  ['a signature that is no note', { ...signed, signature: 'x' }, /note/],
  ['a note of something else', { ...signed, signature: 'a\n\n— x AAAAAAAA\n' }, /not that of a manifest/],
  ['another time', { ...signed, signature: signed.signature.replace('time 178', 'time 177') }, /none of the keys/],
])('%s does not verify', (_name, value, words) => {
  expect(problem(value)).toMatch(words)
})

test('another key, log or connector does not do', () => {
  expect(problem(signed, {}, ringOf(makeKey().key))).toMatch(/none of the keys/)
  expect(problem(signed, {}, ringOf())).toMatch(/none of the keys/)
  const foreign = makeKey('orghub/log/other')
  expect(problem(foreign.signed, { logName }, ringOf(key, foreign.key))).toMatch(/another tenant/)
  expect(problem(signed, { connectorId: 'con_2' })).toMatch(/another connector/)
  expect(problem(signed, { connectorId: 'con_1', logName })).toBe('none')
})

test('a key that had retired before does not do, one that retired since does', () => {
  const retired = (retiredAt: string) => problem(signed, {}, ringOf({ ...key, retiredAt }))
  expect(retired('2026-06-30T23:58:00Z')).toMatch(/none of the keys/)
  expect(retired('2026-07-02T00:00:00Z')).toBe('none')
})

test('one that is too old, or of the future, is refused where that is asked', () => {
  const at = (seconds: number) => problem(signed, { maxAgeSeconds: 60, nowMs: signedAtMs + seconds * 1000 })
  expect([at(59), at(61), at(-59), at(-61)]).toEqual([
    'none',
    'it was signed 61 seconds ago',
    'none',
    'it was signed in the future',
  ])
})
