import { createPublicKey, hash, verify } from 'node:crypto'
import type { SyncCrypto } from '../../../provenance/index.ts'

/** Node's synchronous crypto for the provenance core. */
export const logCrypto: SyncCrypto = {
  sha256: (bytes) => Buffer.from(hash('sha256', bytes, 'latin1'), 'latin1'),
  verifyEd25519(publicKey, message, signature) {
    const x = Buffer.from(publicKey).toString('base64url')
    return verify(null, message, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }), signature)
  },
}
