import { createPublicKey, hash, type KeyObject, verify, webcrypto } from 'node:crypto'
import type { AsyncCrypto, Sha256, SyncCrypto } from '../../provenance/index.ts'

export const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer')

/** node:crypto, as the server and the command line use it. */
export const nodeCrypto: SyncCrypto = {
  sha256,
  verifyEd25519(publicKey, message, signature) {
    return verify(null, message, publicKeyObject(publicKey), signature)
  },
}

/** WebCrypto, as a browser uses it. */
export const webCrypto: AsyncCrypto = {
  async sha256(bytes) {
    return new Uint8Array(await webcrypto.subtle.digest('SHA-256', new Uint8Array(bytes)))
  },
  async verifyEd25519(publicKey, message, signature) {
    const key = await webcrypto.subtle.importKey('raw', new Uint8Array(publicKey), 'Ed25519', false, ['verify'])
    return webcrypto.subtle.verify('Ed25519', key, new Uint8Array(signature), new Uint8Array(message))
  },
}

function publicKeyObject(publicKey: Uint8Array): KeyObject {
  const x = Buffer.from(publicKey).toString('base64url')
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
}
