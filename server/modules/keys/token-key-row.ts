import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { decryptSecret, encryptSecret } from '../../secrets/encryption.ts'
import { StartupError } from '../../startup-error.ts'
import type { TokenKeyRow } from './keys-store.ts'
import type { PublicTokenKey, TokenAlgorithm, TokenSigningKey } from './keys-types.ts'
import { generateTokenKey, tokenKeyOf } from './token-key-shape.ts'

/** Creates the row of a new key: private key encrypted, id by RFC 7638. */
export async function makeTokenKeyRow(
  sealingKey: Buffer,
  algorithm: TokenAlgorithm,
): Promise<Omit<TokenKeyRow, 'created_at'>> {
  const privateKey = await generateTokenKey(algorithm)
  const keyId = await calculateJwkThumbprint(createPublicKey(privateKey).export({ format: 'jwk' }) as JWK)
  return {
    key_id: keyId,
    algorithm,
    public_jwk: publicJwk(privateKey, { key_id: keyId, algorithm }),
    private_key_sealed: encryptSecret(
      sealingKey,
      privateKey.export({ format: 'der', type: 'pkcs8' }),
      contextOf(keyId),
    ),
    retired_at: null,
  }
}

/**
 * Decrypts a token key.
 *
 * @throws StartupError if the key was encrypted under another master key, or this version does not support its kind
 */
export function openTokenKey(row: TokenKeyRow, sealingKey: Buffer): TokenSigningKey & { publicJwk: PublicTokenKey } {
  const privateKey = openPrivateKey(row, sealingKey)
  // Derived from the private key, so that a changed row cannot publish somebody else's key.
  const jwk = publicJwk(privateKey, row)
  return { ...checked(jwk), privateKey, publicJwk: jwk }
}

function publicJwk(privateKey: KeyObject, row: Pick<TokenKeyRow, 'key_id' | 'algorithm'>): PublicTokenKey {
  const { kty = '', crv, x, y, n, e } = createPublicKey(privateKey).export({ format: 'jwk' })
  const members = Object.entries({ crv, x, y, n, e }).filter(([, value]) => value !== undefined)
  return { kty, kid: row.key_id, alg: row.algorithm, use: 'sig', ...Object.fromEntries(members) }
}

/** Returns the verification key, derived from the published form that every other verifier uses. */
function checked(jwk: PublicTokenKey) {
  try {
    return tokenKeyOf(jwk)
  } catch (cause) {
    throw new StartupError(
      `The token key ${jwk.kid} cannot be used: ${(cause as Error).message}.`,
      'Start the version of the Hub that made it, or a later one.',
      { cause },
    )
  }
}

function openPrivateKey(row: TokenKeyRow, sealingKey: Buffer): KeyObject {
  try {
    const pkcs8 = decryptSecret(sealingKey, row.private_key_sealed, contextOf(row.key_id))
    return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  } catch (cause) {
    throw new StartupError(
      'The keys in this database were encrypted with another master key.',
      'Start with the HUB_MASTER_KEY, or with the master.key file of the data directory, that the database was made with.',
      { cause },
    )
  }
}

function contextOf(keyId: string): string {
  return `token key ${keyId}`
}
