import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { ciphertextPrefix } from '../../db/record-encryption.ts'

export const contentKeyBytes = 32
const nonceBytes = 12
const tagBytes = 16

const keyIdPattern = /^ck_[0-9a-f]{24}$/
const keyIdLength = 27
const recordIdLength = 36
const keyIdAt = ciphertextPrefix.length
const recordIdAt = keyIdAt + keyIdLength + 1
const bodyAt = recordIdAt + recordIdLength + 1

export function newKeyId(): string {
  return `ck_${randomBytes(12).toString('hex')}`
}

/** Returns the prefix of every text encrypted under the key. */
export function beginningOf(keyId: string): string {
  return `${ciphertextPrefix}${keyId}.`
}

/** Returns the id of the key that encrypted a stored text; undefined for any other text. */
export function keyIdOf(stored: string): string | undefined {
  if (!stored.startsWith(ciphertextPrefix)) return undefined
  const keyId = stored.slice(keyIdAt, keyIdAt + keyIdLength)
  return keyIdPattern.test(keyId) && stored[recordIdAt - 1] === '.' ? keyId : undefined
}

/**
 * Encrypts by AES-256-GCM (NIST SP 800-38D) with a random nonce, under a key of the record's own: HMAC-SHA256 of tenant
 * and record id under the content key (a key derivation in the sense of NIST SP 800-108). Regardless of the number of
 * records, each key encrypts only a text or two, so nonces do not collide; and a text decrypts for its record and
 * tenant alone.
 */
export function encryptText(
  contentKey: Buffer,
  keyId: string,
  tenantId: string,
  recordId: string,
  text: string,
): string {
  const name = nameOf(tenantId, recordId)
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', recordKey(contentKey, name), nonce, { authTagLength: tagBytes })
  cipher.setAAD(name)
  const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${beginningOf(keyId)}${recordId}.${body.toString('base64url')}`
}

/** Decrypts a text; returns undefined if it was not encrypted for this record of this tenant. */
export function decryptText(
  contentKey: Buffer,
  tenantId: string,
  recordId: string,
  stored: string,
): string | undefined {
  if (stored.slice(recordIdAt, bodyAt - 1) !== recordId) return undefined
  const body = Buffer.from(stored.slice(bodyAt), 'base64url')
  if (body.length < nonceBytes + tagBytes) return undefined
  const name = nameOf(tenantId, recordId)
  const nonce = body.subarray(0, nonceBytes)
  const decipher = createDecipheriv('aes-256-gcm', recordKey(contentKey, name), nonce, { authTagLength: tagBytes })
  decipher.setAAD(name)
  decipher.setAuthTag(body.subarray(body.length - tagBytes))
  try {
    const opened = decipher.update(body.subarray(nonceBytes, body.length - tagBytes))
    return Buffer.concat([opened, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** Returns the record id in an encrypted text, the only source of it if many texts are joined. */
export function recordIdOf(stored: string): string {
  return stored.slice(recordIdAt, bodyAt - 1)
}

function nameOf(tenantId: string, recordId: string): Buffer {
  return Buffer.from(`orghub/content/v1\0${tenantId}\0${recordId}`)
}

function recordKey(contentKey: Buffer, name: Buffer): Buffer {
  return createHmac('sha256', contentKey).update(name).digest()
}
