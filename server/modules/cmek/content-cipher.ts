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

/** What every text that is sealed under the key begins with. */
export function beginningOf(keyId: string): string {
  return `${ciphertextPrefix}${keyId}.`
}

/** The key that a stored text is sealed under, or undefined for what is no sealed text. */
export function keyIdOf(stored: string): string | undefined {
  if (!stored.startsWith(ciphertextPrefix)) return undefined
  const keyId = stored.slice(keyIdAt, keyIdAt + keyIdLength)
  return keyIdPattern.test(keyId) && stored[recordIdAt - 1] === '.' ? keyId : undefined
}

/**
 * AES-256-GCM (NIST SP 800-38D) with a random nonce, under a key of the record's own: HMAC-SHA256 of tenant and record
 * id under the content key (a key derivation in the sense of NIST SP 800-108). So however many records a content key
 * has, no key seals more than a text or two, and nonces do not meet; and a text opens for its record and tenant alone.
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

/** Undefined for what was not sealed so, for this record of this tenant. */
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

/** The record that a sealed text says it is of; where many are joined to one text nothing else tells. */
export function recordIdOf(stored: string): string {
  return stored.slice(recordIdAt, bodyAt - 1)
}

function nameOf(tenantId: string, recordId: string): Buffer {
  return Buffer.from(`orghub/content/v1\0${tenantId}\0${recordId}`)
}

function recordKey(contentKey: Buffer, name: Buffer): Buffer {
  return createHmac('sha256', contentKey).update(name).digest()
}
