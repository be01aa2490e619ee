import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, type webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { decryptSecret, encryptSecret } from '../../secrets/encryption.ts'
import { StartupError } from '../../startup-error.ts'
import type { TokenKeyRow } from './keys-store.ts'
import type { PublicTokenKey, TokenAlgorithm, TokenKey, TokenSigningKey } from './keys-types.ts'

/**
 * The size of RSA keys: the minimum of RFC 7518, section 3.3, which NIST SP 800-57 considers sufficient until 2030.
 * With 3072 bits, signing would take almost three times as long, for tokens that live an hour and keys that a command
 * rotates.
 */
const rsaBits = 2048

const rsaExponent = 65537

const generate = promisify(generateKeyPair)

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
      'Start with the HUB_MASTER_KEY of the database, or with the file master.key of its data directory.',
      { cause },
    )
  }
}

function contextOf(keyId: string): string {
  return `token key ${keyId}`
}

async function generateTokenKey(algorithm: TokenAlgorithm): Promise<KeyObject> {
  const { privateKey } =
    algorithm === 'ES256'
      ? await generate('ec', { namedCurve: 'P-256' })
      : await generate('rsa', { modulusLength: rsaBits, publicExponent: rsaExponent })
  return privateKey
}

/**
 * Returns the verification key of a JWK (RFC 7517). It must match what {@link generateTokenKey} creates, and must have
 * no other purpose.
 *
 * @throws Error that names the mismatch
 */
export function tokenKeyOf(jwk: webcrypto.JsonWebKey & { kid?: string }): TokenKey {
  const { alg, kid, use = 'sig', key_ops: operations = ['verify'] } = jwk
  if (alg !== 'ES256' && alg !== 'RS256') throw new Error('its algorithm is neither ES256 nor RS256')
  if (typeof kid !== 'string') throw new Error('it has no id')
  if (use !== 'sig' || !operations.includes('verify')) throw new Error('it is not for signatures')
  if (jwk.d !== undefined || jwk.k !== undefined) throw new Error('it is not a public key')
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
  const { namedCurve, modulusLength, publicExponent } = publicKey.asymmetricKeyDetails ?? {}
  const fits =
    alg === 'ES256'
      ? publicKey.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1'
      : publicKey.asymmetricKeyType === 'rsa' && modulusLength === rsaBits && publicExponent === BigInt(rsaExponent)
  if (!fits) throw new Error(`it is not a key for ${alg}`)
  return { keyId: kid, algorithm: alg, publicKey }
}
