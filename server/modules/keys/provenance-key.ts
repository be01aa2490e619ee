import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { fromHex } from '../../../provenance/bytes.ts'
import { successionNote } from '../../../provenance/key-succession.ts'
import { keyIdOf } from '../../../provenance/keys.ts'
import { decryptSecret, encryptSecret } from '../../secrets/encryption.ts'
import type { ProvenanceKeyRow, PublishedKeyRow } from './keys-store.ts'
import type { ProvenanceSigner, PublishedKey } from './keys-types.ts'

/** Maximum number of cached keys. Each takes a few kibibytes. */
const openedMax = 20_000

/** Creates the row of a new key, with its private key encrypted. The previous key, if any, introduces it. */
export function makeProvenanceKeyRow(
  sealingKey: Buffer,
  log: { tenantId: string; name: string },
  predecessor?: ProvenanceSigner,
): Omit<ProvenanceKeyRow, 'tenant_id'> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = rawPublicKey(publicKey)
  const keyId = keyIdOf(log.name, raw, sha256)
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' })
  const nowMs = Date.now()
  return {
    key_id: keyId,
    name: log.name,
    public_key: raw,
    private_key_sealed: encryptSecret(sealingKey, pkcs8, contextOf(log.tenantId, keyId)),
    created_at: formatTimestamp(nowMs),
    retired_at: null,
    succession: predecessor ? introduction(predecessor, raw, nowMs) : null,
  }
}

function introduction(from: ProvenanceSigner, publicKey: Uint8Array, nowMs: number): string {
  const { logName, keyId: fromKeyId } = from
  const statement = { logName, fromKeyId, to: { name: logName, publicKey }, timeMicros: nowMs * 1000 }
  return successionNote(statement, { sha256, sign: (message) => from.sign(message) })
}

/**
 * Returns the signer of a row.
 *
 * @throws Error if the key was encrypted under another master key or for another tenant, or its parts disagree
 */
function signerFrom(row: ProvenanceKeyRow, sealingKey: Buffer): ProvenanceSigner {
  const pkcs8 = decryptSecret(sealingKey, row.private_key_sealed, contextOf(row.tenant_id, row.key_id))
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  // A signature that the published key does not verify would condemn genuine records.
  if (!rawPublicKey(createPublicKey(privateKey)).equals(row.public_key)) {
    throw new Error(`provenance key ${row.key_id}: its private half does not belong to its public half`)
  }
  if (keyIdOf(row.name, row.public_key, sha256) !== row.key_id) {
    throw new Error(`provenance key ${row.key_id}: its id is not that of its name and its public half`)
  }
  return {
    keyId: row.key_id,
    keyIdBytes: fromHex(row.key_id),
    logName: row.name,
    sign: (message) => sign(null, message, privateKey),
  }
}

export function publishedKeyOf(row: PublishedKeyRow): PublishedKey {
  return {
    keyId: row.key_id,
    name: row.name,
    publicKey: row.public_key,
    createdAt: row.created_at,
    ...(row.retired_at === null ? {} : { retiredAt: row.retired_at }),
    ...(row.succession === null ? {} : { succession: row.succession }),
  }
}

/** Returns the columns of a public key; reverses {@link publishedKeyOf}. */
export function rowOf(key: PublishedKey): PublishedKeyRow {
  return {
    key_id: key.keyId,
    name: key.name,
    public_key: Buffer.from(key.publicKey),
    created_at: key.createdAt,
    retired_at: key.retiredAt ?? null,
    succession: key.succession ?? null,
  }
}

function contextOf(tenantId: string, keyId: string): string {
  return `provenance key ${keyId} of ${tenantId}`
}

function rawPublicKey(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer')
}

/**
 * Distinguishes keys that the service created from rows that somebody added to the database: a private key decrypts
 * only if it was encrypted under the master key for that tenant and key id. A check of the public key alone would trust
 * anyone who writes to the database. Opens each row once while it is unchanged, so retired keys cost next to nothing.
 */
export class VerifiedKeys {
  readonly #sealingKey: Buffer
  readonly #opened = new LRUCache<string, ProvenanceSigner>({ max: openedMax })

  constructor(sealingKey: Buffer) {
    this.#sealingKey = sealingKey
  }

  /** Returns the signer of a row; undefined unless the service created the row with these values. */
  open(row: ProvenanceKeyRow): ProvenanceSigner | undefined {
    const name = fingerprintOf(row)
    const known = this.#opened.get(name)
    if (known) return known
    try {
      const signer = signerFrom(row, this.#sealingKey)
      this.#opened.set(name, signer)
      return signer
    } catch {
      return undefined
    }
  }
}

/** Returns a fingerprint of every value that opening uses, with unambiguous delimiters. */
function fingerprintOf({ tenant_id, key_id, name, public_key, private_key_sealed }: ProvenanceKeyRow): string {
  const parts = [tenant_id, key_id, name, public_key.toString('base64'), private_key_sealed.toString('base64')]
  return hash('sha256', JSON.stringify(parts), 'base64')
}
