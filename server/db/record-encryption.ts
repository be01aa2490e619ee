import { DomainError } from '../../contract/domain-error.ts'
import type { ContentEncryptor, RecordContents, TenantTx } from './database.ts'

/**
 * The prefix of content encrypted at rest under a tenant's own key. The text has the form `omhe1.<key id>.<record
 * id>.<base64url of nonce, ciphertext and tag>`. No JSON begins like it.
 */
export const ciphertextPrefix = 'omhe1.'
const firstCode = ciphertextPrefix.charCodeAt(0)

/**
 * Returns the step of an ingest transaction that refuses, with SQLSTATE {@link contentKeyChanged}, if another key has
 * become active.
 */
export function requireContentKey(tenantId: string, { keyId }: ContentEncryptor) {
  return { statement: requireKeyStatement, values: [tenantId, keyId] }
}

const requireKeyStatement = { name: 'hub_require_content_key', text: 'select hub.require_content_key($1, $2)' }
/** An SQLSTATE of a class that the standard leaves to implementations (its first digit is 5 or more). */
export const contentKeyChanged = '9K001'

/** Returns whether a text is encrypted. It is cheap, and false for every text of a tenant in mode A or C. */
export function isCiphertext(stored: string): boolean {
  return stored.charCodeAt(0) === firstCode
}

/** Decrypts the text of a row (see {@link RecordContents.open}). */
export function decryptContent(tx: TenantTx, recordId: string, stored: string): string {
  return isCiphertext(stored) ? tx.contents.decrypt(tx.tenantId, recordId, stored) : stored
}

/** Returns whether a text, decrypted or stored, is lost with its destroyed key. */
export function isErased(tx: TenantTx, text: string | null): boolean {
  return text !== null && isCiphertext(text) && tx.contents.destroyedKeyOf(tx.tenantId, text) !== undefined
}

/** Returns the encryptor of a tenant in Mode B. Throws DomainError `hub-not-provisioned` for a tenant without a key. */
export async function contentEncryptor(tx: TenantTx): Promise<ContentEncryptor> {
  const encryptor = await tx.contents.encryptor(tx)
  if (encryptor === undefined) throw withoutContentKey()
  return encryptor
}

export function withoutContentKey(): DomainError {
  return new DomainError(
    'hub-not-provisioned',
    'This tenant runs in Mode B and its Hub has no key. Call POST /api/v1/hub/provision with `cmek` first.',
  )
}

/** The contents of a process, or a test, without keys. */
export const noContents: RecordContents = {
  decrypt: (_tenantId, _recordId, stored) => stored,
  openJoined: (_tenantId, stored) => stored,
  destroyedKeyOf: () => undefined,
  erasedBeginnings: () => [],
  destructions: async () => 0,
  encryptor: async () => undefined,
  outside: async () => {
    throw withoutContentKey()
  },
}
