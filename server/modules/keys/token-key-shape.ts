import { createPublicKey, generateKeyPair, type KeyObject, type webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import type { TokenAlgorithm, TokenKey } from './keys-types.ts'

/**
 * The size of RSA keys: the minimum of RFC 7518, section 3.3, which NIST SP 800-57 considers sufficient until 2030.
 * With 3072 bits, signing would take almost three times as long, for tokens that live an hour and keys that a command
 * rotates.
 */
const rsaBits = 2048
const rsaExponent = 65537

const generate = promisify(generateKeyPair)

export async function generateTokenKey(algorithm: TokenAlgorithm): Promise<KeyObject> {
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
