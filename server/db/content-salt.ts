import { hash } from 'node:crypto'

/**
 * The salt of a record is part of its leaf, and so of its seal. In Mode B it records whether the record was content,
 * and under which content key. Nobody can edit that, and it remains when the key and the text are gone. The first bit
 * is set for content, and the 31 bits after it identify the key. The other 96 bits are random, so the leaf reveals
 * nothing about a record whose salt was erased.
 */
const markBytes = 4
const contentBit = 0x80

/** Turns random bytes, in place, into the salt of a record whose text is encrypted under the key with this mark. */
export function markContentSalt(salt: Uint8Array, mark: Uint8Array): void {
  salt.set(mark)
}

/** Turns random bytes, in place, into the salt of a record of the service, whose text stays in clear. */
export function markClearSalt(salt: Uint8Array): void {
  salt[0]! &= ~contentBit
}

/**
 * Returns whether a record with this salt was written for encryption under the key. The salt must be the one of the
 * leaf.
 */
export function isSaltOfContent(salt: Uint8Array, tenantId: string, keyId: string): boolean {
  return contentMark(tenantId, keyId).equals(salt.subarray(0, markBytes))
}

/**
 * Returns the prefix of content salts under a key. It does not depend on the record: the record's id is a column, and
 * an attacker could search for one that fits.
 */
export function contentMark(tenantId: string, keyId: string): Buffer {
  const mark = hash('sha256', `orghub/content-salt/v1\0${tenantId}\0${keyId}`, 'buffer').subarray(0, markBytes)
  mark[0]! |= contentBit
  return mark
}
