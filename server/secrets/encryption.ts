import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const version = 1
const nonceBytes = 12
const tagBytes = 16

/**
 * Derives a 32-byte key for one purpose from the master key, by HKDF-SHA256 (RFC 5869). Keys of different purposes
 * reveal nothing about each other.
 */
export function deriveKey(masterKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, 'org-memory-hub', purpose, 32))
}

/**
 * Encrypts a secret for storage: version byte, nonce, AES-256-GCM ciphertext, tag (NIST SP 800-38D).
 *
 * @param key a key of `deriveKey`, of this purpose only
 * @param context names the owner of the secret (such as its tenant and key id). Decryption needs the same context, so a
 * value moved to another row does not decrypt there
 */
export function encryptSecret(key: Buffer, plaintext: Buffer, context: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  cipher.setAAD(associatedData(context))
  return Buffer.concat([Buffer.of(version), nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/**
 * Decrypts a result of {@link encryptSecret}.
 *
 * @throws Error if the key or the context differs from that of the encryption, or a byte was changed
 */
export function decryptSecret(key: Buffer, sealed: Buffer, context: string): Buffer {
  if (sealed[0] !== version || sealed.length < 1 + nonceBytes + tagBytes) {
    throw new Error(`sealed secret of ${context} has an unknown format`)
  }
  const nonce = sealed.subarray(1, 1 + nonceBytes)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(associatedData(context))
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(1 + nonceBytes, sealed.length - tagBytes)), decipher.final()])
  } catch (cause) {
    throw new Error(
      `cannot decrypt the secret of ${context}: it was encrypted with another master key, or was changed`,
      { cause },
    )
  }
}

function associatedData(context: string): Buffer {
  return Buffer.concat([Buffer.of(version), Buffer.from(context)])
}
