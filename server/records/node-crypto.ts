import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto'
import type { SyncCrypto } from '../../provenance/index.ts'

/** DER of a SubjectPublicKeyInfo for Ed25519 up to the 32 bytes of the key (RFC 8410, section 4). */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** Parsed keys by the key's own bytes object. Key rings are cached, so each key is parsed once. */
const keyObjects = new WeakMap<Uint8Array, KeyObject | null>()

function keyObjectOf(publicKey: Uint8Array): KeyObject | null {
  const known = keyObjects.get(publicKey)
  if (known !== undefined) return known
  const key = publicKey.length === 32 ? parse(publicKey) : null
  keyObjects.set(publicKey, key)
  return key
}

function parse(publicKey: Uint8Array): KeyObject | null {
  try {
    return createPublicKey({ key: Buffer.concat([spkiPrefix, publicKey]), format: 'der', type: 'spki' })
  } catch {
    return null
  }
}

/**
 * Provides Node's synchronous crypto for the provenance core: awaited WebCrypto digests are 40 times slower here.
 * `hash` returns text of one byte per character, because a Buffer that it creates itself costs seven times the hash.
 */
export const nodeCrypto: SyncCrypto = {
  sha256: (bytes) => Buffer.from(hash('sha256', bytes, 'latin1'), 'latin1'),
  verifyEd25519: (publicKey, message, signature) => {
    const key = keyObjectOf(publicKey)
    return key !== null && verify(null, message, key, signature)
  },
}
