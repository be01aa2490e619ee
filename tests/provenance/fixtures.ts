import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto'
import { concatBytes, fromBase64Url, fromHex, utf8 } from '../../provenance/bytes.ts'
import {
  canonicalize,
  formatRecordHash,
  type JsonObject,
  keyIdOf,
  recordHash,
  type Seal,
  sealRecords,
  type VerifierKey,
  type VerifyItem,
} from '../../provenance/index.ts'
import { sha256 } from './node-crypto.ts'

/** A log key made from a label: the same label is always the same key. */
export type LogKey = VerifierKey & { readonly seed: string; readonly sign: (message: Uint8Array) => Uint8Array }

/** The first `length` bytes (at most 32) of SHA-256(label): what a test needs to be random, and the same every time. */
export function derived(label: string, length: number): Uint8Array {
  return sha256(utf8(label)).subarray(0, length)
}

/** A UUIDv7 with a fixed time. */
export function derivedUuid(label: string): string {
  const hex = hash('sha256', label, 'hex')
  return `0198c1c8-7d3f-7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`
}

export function logKey(name: string, label: string): LogKey {
  const seed = derived(`seed ${label}`, 32)
  const pkcs8 = concatBytes(fromHex('302e020100300506032b657004220420'), seed)
  const privateKey = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })
  const publicKey = fromBase64Url(createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '')
  return {
    keyId: keyIdOf(name, publicKey, sha256),
    name,
    publicKey,
    createdAt: '2026-01-01T00:00:00.000000Z',
    seed: Buffer.from(seed).toString('hex'),
    sign: (message) => sign(null, message, privateKey),
  }
}

const sealedAtMicros = 1_767_323_045_123_456

/** Canonical texts under one seal, with all that belongs to it. */
export type SealedTexts = {
  readonly seal: Seal
  readonly salts: readonly Uint8Array[]
  readonly hashes: readonly Uint8Array[]
  readonly items: readonly (VerifyItem & { readonly record: string })[]
}

export function sealTexts(texts: readonly string[], key: LogKey, label: string): SealedTexts {
  const hashes = texts.map((text) => recordHash(text, sha256))
  const salts = texts.map((_, i) => derived(`salt ${label} ${i}`, 16))
  const { seal, cosigns } = sealRecords(
    {
      logName: key.name,
      keyId: key.keyId,
      sealId: derivedUuid(`seal ${label}`),
      timeMicros: sealedAtMicros,
      recordHashes: hashes,
      salts,
    },
    { sha256, sign: key.sign },
  )
  const items = texts.map((record, i) => ({ record, hash: formatRecordHash(hashes[i]!), cosign: cosigns[i]! }))
  return { seal, salts, hashes, items }
}

/** A record of no particular type. */
export function plainRecord(i: number): JsonObject {
  return { record_id: derivedUuid(`record ${i}`), record_type: 'artifact', schema_version: '1.0', title: `No. ${i}` }
}

export function plainTexts(count: number): string[] {
  return Array.from({ length: count }, (_, i) => canonicalize(plainRecord(i)))
}

const logName = 'orghub/log/4k2WcXbFd0aVtnYzS1mQ7e'
export const firstKey = logKey(logName, 'first')
/** The same log after a rotation. */
export const secondKey = logKey(logName, 'second')
/** Of a log that no key document names. */
export const strangeKey = logKey('orghub/log/Zq8TnB3xLw5RcJ7vHd1MgK', 'strange')
