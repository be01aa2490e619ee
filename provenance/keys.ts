import { fromBase64, type Sha256, toBase64, toHex } from './bytes.ts'
import { ProvenanceError } from './errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
import { formatVkey, keyHashInput, vkeyIn } from './note.ts'
import { type AsyncCrypto, runAsync, runSync, type SyncAsyncTask, sha256Of } from './sync-async-runner.ts'

/** One public key of a log. */
export type VerifierKey = {
  /** 32 lowercase hexadecimal digits: the first 16 bytes of the key hash. */
  readonly keyId: string
  /** The opaque name of the log, such as `orghub/log/4k2WcXbFd0aVtnYzS1mQ7e`. The key id commits to it. */
  readonly name: string
  /** 32 bytes (RFC 8032). */
  readonly publicKey: Uint8Array
  /** RFC 3339. */
  readonly createdAt: string
  readonly retiredAt?: string
  /**
   * The note by which the previous key introduces this one (see `verifySuccession`); absent for the first key of a log.
   */
  readonly succession?: string
}

/** Public keys by key id. */
export type KeyRing = ReadonlyMap<string, VerifierKey>

/** The response of `GET /.well-known/provenance-keys.json`. */
export type KeyDocument = { readonly keys: readonly KeyDocumentEntry[] }

export type KeyDocumentEntry = {
  readonly key_id: string
  readonly name: string
  readonly algorithm: 'Ed25519'
  readonly public_key: string
  readonly vkey: string
  readonly created_at: string
  readonly retired_at?: string
  readonly succession?: string
}

/** Returns the first 16 bytes, in hex, of SHA-256(name ‖ "\n" ‖ 0x01 ‖ public key). Throws `key-malformed`. */
export function keyIdOf(name: string, publicKey: Uint8Array, sha256: Sha256): string {
  return toHex(sha256(keyHashInput(name, publicKey)).subarray(0, 16))
}

/** Returns the published form of a key. */
export function keyDocumentEntry(key: VerifierKey, sha256: Sha256): KeyDocumentEntry {
  return {
    key_id: key.keyId,
    name: key.name,
    algorithm: 'Ed25519',
    public_key: toBase64(key.publicKey),
    vkey: formatVkey(key.name, key.publicKey, sha256),
    created_at: key.createdAt,
    ...(key.retiredAt === undefined ? {} : { retired_at: key.retiredAt }),
    ...(key.succession === undefined ? {} : { succession: key.succession }),
  }
}

/** Reads a key document (parsed JSON) and recomputes every key id. Throws `key-malformed`, naming the entry. */
export function parseKeyDocument(json: JsonValue, sha256: Sha256): KeyRing {
  return runSync(keyRingIn(json), { sha256, verifyEd25519: () => false })
}

/** Works like {@link parseKeyDocument} with a hash that returns a promise. */
export function parseKeyDocumentAsync(json: JsonValue, sha256: AsyncCrypto['sha256']): Promise<KeyRing> {
  return runAsync(keyRingIn(json), { sha256, verifyEd25519: async () => false })
}

/** Works like {@link parseKeyDocument}, for any runtime. */
export function* keyRingIn(json: JsonValue): SyncAsyncTask<KeyRing> {
  const entries = isJsonObject(json) ? json.keys : undefined
  if (!Array.isArray(entries)) throw new ProvenanceError('key-malformed', '/keys is not an array')
  const ring = new Map<string, VerifierKey>()
  for (const [index, entry] of (entries as readonly JsonValue[]).entries()) {
    const at = `/keys/${index}`
    if (!isJsonObject(entry)) throw new ProvenanceError('key-malformed', `${at} is not an object`)
    const key = yield* keyIn(entry, at)
    if (ring.has(key.keyId)) throw new ProvenanceError('key-malformed', `${at}/key_id occurs twice`)
    ring.set(key.keyId, key)
  }
  return ring
}

function* keyIn(entry: JsonObject, at: string): SyncAsyncTask<VerifierKey> {
  const name = text(entry, 'name', at)
  if (text(entry, 'algorithm', at) !== 'Ed25519')
    throw new ProvenanceError('key-malformed', `${at}/algorithm is unknown`)
  const fromVkey = yield* vkeyIn(text(entry, 'vkey', at))
  const encoded = text(entry, 'public_key', at)
  if (!/^[A-Za-z0-9+/]{43}=$/.test(encoded)) {
    throw new ProvenanceError('key-malformed', `${at}/public_key is not the base64 of 32 bytes`)
  }
  if (fromVkey.name !== name || toBase64(fromVkey.publicKey) !== encoded) {
    throw new ProvenanceError('key-malformed', `${at}/vkey disagrees with name and public_key`)
  }
  const publicKey = fromBase64(encoded)
  const keyId = toHex((yield* sha256Of(keyHashInput(name, publicKey))).subarray(0, 16))
  if (text(entry, 'key_id', at) !== keyId) {
    throw new ProvenanceError('key-malformed', `${at}/key_id is not that of its name and public_key`)
  }
  const createdAt = time(entry, 'created_at', at)
  return {
    keyId,
    name,
    publicKey,
    createdAt,
    ...(entry.retired_at === undefined ? {} : { retiredAt: time(entry, 'retired_at', at) }),
    ...(entry.succession === undefined ? {} : { succession: text(entry, 'succession', at) }),
  }
}

function text(entry: JsonObject, member: string, at: string): string {
  const value = entry[member]
  if (typeof value !== 'string') throw new ProvenanceError('key-malformed', `${at}/${member} is not a string`)
  return value
}

function time(entry: JsonObject, member: string, at: string): string {
  const value = text(entry, member, at)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value) || Number.isNaN(Date.parse(value))) {
    throw new ProvenanceError('key-malformed', `${at}/${member} is not a UTC time`)
  }
  return value
}
