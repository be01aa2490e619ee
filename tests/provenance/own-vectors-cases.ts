import { concatBytes, fromBase64Url, toBase64Url } from '../../provenance/bytes.ts'
import {
  type Checks,
  canonicalize,
  type FailureCode,
  formatRecordHash,
  type JsonObject,
  keyDocumentEntry,
  recordHash,
  type VerifyItem,
} from '../../provenance/index.ts'
import { firstKey, plainRecord, type SealedTexts, sealTexts, secondKey, strangeKey } from './fixtures.ts'
import { sha256 } from './node-crypto.ts'

type Expectation = readonly (readonly [keyof Checks, FailureCode])[]

/** Something to verify with the vectors' two keys, and the checks that must fail, with their codes. */
export type VerificationCase = VerifyItem & { readonly name: string; readonly failures: Expectation }

const cosignMalformed: Expectation = [['provenance_cosign_valid', 'cosign-malformed']]
const versionUnsupported: Expectation = [['provenance_cosign_valid', 'cosign-version-unsupported']]
const signatureInvalid: Expectation = [['provenance_cosign_valid', 'signature-invalid']]
const keyUnknown: Expectation = [['provenance_cosign_valid', 'key-unknown']]
const hashMismatch: Expectation = [['provenance_hash_matches', 'hash-mismatch']]
const hashMalformed: Expectation = [
  ['provenance_hash_matches', 'hash-malformed'],
  ['provenance_cosign_valid', 'hash-malformed'],
]
const schemaUnsupported: Expectation = [['schema_version_supported', 'schema-version-unsupported']]

/** Cases around the second record (leaf 1) of a seal of five. */
export function verificationCases(five: SealedTexts): VerificationCase[] {
  return [
    ...recordCases(five),
    ...unavailableCases(five),
    ...cosignByteCases(five),
    ...cosignTextCases(five),
    ...signedTextCases(),
  ]
}

function recordCases({ items, hashes }: SealedTexts): VerificationCase[] {
  const item = items[1]!
  const answer = answerOf(item)
  const altered = { ...answer, decision_outcome: 'approved' }
  const alteredText = canonicalize({ ...(JSON.parse(item.record) as JsonObject), decision_outcome: 'approved' })
  const alteredHash = formatRecordHash(recordHash(alteredText, sha256))
  const strange = sealTexts([item.record], strangeKey, 'strange').items[0]!
  return [
    { name: 'canonical text', ...item, failures: [] },
    { name: 'answer', ...item, record: answer, failures: [] },
    { name: 'answer of a purged record', ...item, record: { ...answer, is_purged: true }, failures: [] },
    { name: 'answer with a verification', ...item, record: { ...answer, verification: { a: 1 } }, failures: [] },
    { name: 'altered member', ...item, record: altered, failures: hashMismatch },
    { name: 'altered text', ...item, record: alteredText, failures: hashMismatch },
    { name: 'added member', ...item, record: { ...answer, note: '' }, failures: hashMismatch },
    { name: 'altered member with its hash', ...item, record: altered, hash: alteredHash, failures: signatureInvalid },
    { name: "another record's hash", ...item, hash: items[2]!.hash, failures: [...hashMismatch, ...signatureInvalid] },
    { name: "another record's cosign", ...item, cosign: items[2]!.cosign, failures: signatureInvalid },
    { name: 'a key that is not published', ...strange, failures: keyUnknown },
    { name: 'hash without prefix', ...item, hash: item.hash.slice(7), failures: hashMalformed },
    {
      name: 'hash in upper case',
      ...item,
      hash: `sha256:${item.hash.slice(7).toUpperCase()}`,
      failures: hashMalformed,
    },
    { name: 'hash too long', ...item, hash: `${item.hash}00`, failures: hashMalformed },
    { name: 'hash with a newline', ...item, hash: `${item.hash}\n`, failures: hashMalformed },
    { name: 'no hash', ...item, hash: '', failures: hashMalformed },
    { name: 'binary hash', ...item, hash: `${hashes[1]}`, failures: hashMalformed },
    {
      name: 'lone surrogate',
      ...item,
      record: { ...answer, decision_id: '\ud800' },
      failures: [
        ['provenance_hash_matches', 'record-malformed'],
        ['schema_version_supported', 'record-malformed'],
      ],
    },
  ]
}

/** Answers that say that the content is gone with its key. Only an answer may say so, and it has to name the key. */
function unavailableCases({ items }: SealedTexts): VerificationCase[] {
  const item = items[1]!
  const { decision_outcome: _, ...rest } = answerOf(item)
  const left: JsonObject = { ...rest, content: 'unavailable', content_key_id: 'key_gone' }
  const { content_key_id: __, ...keyless } = left
  const unavailable: Expectation = [['provenance_hash_matches', 'content-unavailable']]
  return [
    { name: 'answer without its content', ...item, record: left, failures: unavailable },
    {
      name: "answer without its content, with another record's cosign",
      ...item,
      record: left,
      cosign: items[2]!.cosign,
      failures: [...unavailable, ...signatureInvalid],
    },
    { name: 'content unavailable, without a key', ...item, record: keyless, failures: hashMismatch },
    {
      name: 'content unavailable, with a key that is no text',
      ...item,
      record: { ...left, content_key_id: 1 },
      failures: hashMismatch,
    },
    {
      name: 'another content, with a key',
      ...item,
      record: { ...left, content: 'available' },
      failures: hashMismatch,
    },
    { name: 'text without its content', ...item, record: canonicalize(left), failures: hashMismatch },
    {
      name: 'answer with its content that names a key',
      ...item,
      record: { ...answerOf(item), content_key_id: 'key_gone' },
      failures: hashMismatch,
    },
  ]
}

/** Each field of the binary form changed alone: [name, bytes to bytes, what must fail]. */
function cosignByteCases({ items }: SealedTexts): VerificationCase[] {
  const item = items[1]!
  const flip =
    (offset: number, mask = 1) =>
    (bytes: Uint8Array) =>
      bytes.map((b, i) => (i === offset ? b ^ mask : b))
  const set = (offset: number, value: number) => (bytes: Uint8Array) => bytes.with(offset, value)
  const otherKey = Uint8Array.from(Buffer.from(secondKey.keyId, 'hex'))
  const changes: [string, (bytes: Uint8Array) => Uint8Array, Expectation][] = [
    ['version 0', set(0, 0), versionUnsupported],
    ['version 2', set(0, 2), versionUnsupported],
    ['key id, first bit', flip(1, 128), keyUnknown],
    ['key id, last bit', flip(16), keyUnknown],
    ['key id of the other key', (b) => concatBytes(b.subarray(0, 1), otherKey, b.subarray(17)), signatureInvalid],
    ['seal id', flip(17), signatureInvalid],
    ['time', flip(40), signatureInvalid],
    ['time beyond 2^53 - 1', set(34, 0x20), cosignMalformed],
    ['leaf count 0', set(41, 0), cosignMalformed],
    ['leaf count 6, path of the same length', set(41, 6), signatureInvalid],
    ['leaf count 4, shorter path', set(41, 4), cosignMalformed],
    ['leaf count 65', set(41, 65), cosignMalformed],
    ['leaf index 0', set(42, 0), signatureInvalid],
    ['leaf index 2', set(42, 2), signatureInvalid],
    ['leaf index 4, shorter path', set(42, 4), cosignMalformed],
    ['leaf index = leaf count', set(42, 5), cosignMalformed],
    ['salt', flip(43), signatureInvalid],
    ['signature, R', flip(59), signatureInvalid],
    ['signature, S', flip(122, 16), signatureInvalid],
    ['path, first hash', flip(123), signatureInvalid],
    ['path, last bit', flip(218), signatureInvalid],
    ['trailing byte', (b) => concatBytes(b, Uint8Array.of(0)), cosignMalformed],
    ['trailing hash', (b) => concatBytes(b, new Uint8Array(32)), cosignMalformed],
    ['path without its last hash', (b) => b.subarray(0, -32), cosignMalformed],
    ['last byte missing', (b) => b.subarray(0, -1), cosignMalformed],
    ['signature cut short', (b) => b.subarray(0, 122), cosignMalformed],
    ['nothing but the version', (b) => b.subarray(0, 1), cosignMalformed],
    ['no bytes', () => new Uint8Array(0), cosignMalformed],
  ]
  return changes.map(([name, change, failures]) => {
    const bytes = change(Uint8Array.from(fromBase64Url(item.cosign.slice(6))))
    return { name: `cosign: ${name}`, ...item, cosign: `omhc1.${toBase64Url(bytes)}`, failures }
  })
}

function cosignTextCases({ items }: SealedTexts): VerificationCase[] {
  const item = items[0]!
  const body = item.cosign.slice(6)
  // 219 bytes leave no spare bits; the lone leaf of a seal of one, 123 bytes, neither. A path of one leaves some.
  const two = sealTexts(
    items.slice(0, 2).map(({ record }) => record),
    firstKey,
    'two',
  ).items[0]!
  const spare = `${two.cosign.slice(0, -1)}${String.fromCharCode(two.cosign.charCodeAt(two.cosign.length - 1) + 1)}`
  const texts: [string, VerifyItem, string][] = [
    ['none', item, ''],
    ['without prefix', item, body],
    ['other prefix', item, `omhc2.${body}`],
    ['padded', item, `${item.cosign}=`],
    ['trailing newline', item, `${item.cosign}\n`],
    ['space inside', item, `omhc1.${body.slice(0, 8)} ${body.slice(8)}`],
    ['standard alphabet', item, `omhc1.${body.slice(0, -1)}+`],
    ['not ASCII', item, `omhc1.${body.slice(0, -1)}é`],
    ['unused bits set', two, spare],
    ['one digit too few', item, item.cosign.slice(0, -1)],
    ['very long', item, `omhc1.${'A'.repeat(1000)}`],
  ]
  return texts.map(([name, of, cosign]) => ({ name: `cosign text: ${name}`, ...of, cosign, failures: cosignMalformed }))
}

/** Texts that the log did seal, although it should not have. */
function signedTextCases(): VerificationCase[] {
  const malformed: Expectation = [
    ['provenance_hash_matches', 'record-malformed'],
    ['schema_version_supported', 'record-malformed'],
  ]
  const notCanonical: Expectation = [
    ['provenance_hash_matches', 'record-not-canonical'],
    ['schema_version_supported', 'record-not-canonical'],
  ]
  const { schema_version: _, ...unversioned } = plainRecord(0)
  const cases: [string, string, Expectation][] = [
    ['schema version 2.0', canonicalize({ ...unversioned, schema_version: '2.0' }), schemaUnsupported],
    ['schema version as a number', canonicalize({ ...unversioned, schema_version: 1 }), schemaUnsupported],
    ['no schema version', canonicalize(unversioned), schemaUnsupported],
    ['space', '{"schema_version": "1.0"}', notCanonical],
    ['unsorted', '{"schema_version":"1.0","a":1}', notCanonical],
    ['number not shortest', '{"a":1.0,"schema_version":"1.0"}', notCanonical],
    ['member twice', '{"a":1,"a":1,"schema_version":"1.0"}', notCanonical],
    ['byte order mark', '\ufeff{"schema_version":"1.0"}', malformed],
    ['not JSON', '{', malformed],
    ['NaN', '{"a":NaN,"schema_version":"1.0"}', malformed],
    ['array', '[]', malformed],
    ['null', 'null', malformed],
    ['empty', '', malformed],
    ['escaped lone surrogate', '{"a":"\\ud800","schema_version":"1.0"}', malformed],
    ['number beyond a double', '{"a":1e400,"schema_version":"1.0"}', malformed],
    ['nested too deep', `{"a":${'['.repeat(128)}${']'.repeat(128)},"schema_version":"1.0"}`, malformed],
  ]
  const deepest = `{"a":${'['.repeat(127)}${']'.repeat(127)},"schema_version":"1.0"}`
  return [...cases, ['nested 128 deep', deepest, []] as const].map(([name, text, failures]) => {
    return { name: `sealed text: ${name}`, ...sealTexts([text], firstKey, name).items[0]!, failures }
  })
}

/** A record as the API answers it. */
function answerOf(item: VerifyItem & { readonly record: string }): JsonObject {
  const record = JSON.parse(item.record) as JsonObject
  return { ...record, is_purged: false, provenance_hash: item.hash, provenance_cosign: item.cosign }
}

/** Key documents that must be refused, whole. */
export function keyDocumentCases(): { readonly name: string; readonly document: JsonObject }[] {
  const [first, second] = [keyDocumentEntry(firstKey, sha256), keyDocumentEntry(secondKey, sha256)]
  return [
    { name: 'no keys', document: {} },
    { name: 'another key id', document: { keys: [{ ...first, key_id: second.key_id }] } },
    { name: 'another name', document: { keys: [{ ...first, name: `${first.name}x` }] } },
    { name: 'another public key', document: { keys: [{ ...first, public_key: second.public_key }] } },
    { name: 'another vkey', document: { keys: [{ ...first, vkey: second.vkey }] } },
    { name: 'key id in upper case', document: { keys: [{ ...first, key_id: first.key_id.toUpperCase() }] } },
    { name: 'other algorithm', document: { keys: [{ ...first, algorithm: 'ES256' }] } },
    { name: 'key without padding', document: { keys: [{ ...first, public_key: first.public_key.slice(0, -1) }] } },
    { name: 'the same key twice', document: { keys: [first, second, first] } },
    { name: 'no creation time', document: { keys: [{ ...first, created_at: '' }] } },
    { name: 'not a time', document: { keys: [{ ...first, retired_at: 'yesterday' }] } },
    { name: 'not an object', document: { keys: ['vkey'] } },
  ]
}
