import { hash } from 'node:crypto'

/**
 * The salt of a record is in its leaf, and so under its seal. In Mode B it tells whether the record was content, and of
 * which content key: what nobody can edit, and what is left when the key and the text are gone. The first bit is set for
 * content, and the 31 behind it are of the key. The other 96 bits are random, which keeps the leaf from telling
 * anything about a record whose salt was erased.
 */
const markBytes = 4
const contentBit = 0x80

/** Makes random bytes the salt of a record whose text is to be sealed under the key with that mark; changes them. */
export function markContentSalt(salt: Uint8Array, mark: Uint8Array): void {
  salt.set(mark)
}

/** Makes random bytes the salt of a record of the service, which stays in clear; changes them. */
export function markClearSalt(salt: Uint8Array): void {
  salt[0]! &= ~contentBit
}

/** Whether a record with that salt was made to be sealed under the key. The salt has to be that of the leaf. */
export function isSaltOfContent(salt: Uint8Array, tenantId: string, keyId: string): boolean {
  return contentMark(tenantId, keyId).equals(salt.subarray(0, markBytes))
}

/**
 * The beginning of the salts of content under a key. Not of the record: its id is a column, and somebody could look for
 * one that fits.
 */
export function contentMark(tenantId: string, keyId: string): Buffer {
  const mark = hash('sha256', `orghub/content-salt/v1\0${tenantId}\0${keyId}`, 'buffer').subarray(0, markBytes)
  mark[0]! |= contentBit
  return mark
}
