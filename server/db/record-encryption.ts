import { DomainError } from '../../contract/domain-error.ts'
import type { TenantTx } from './database.ts'

/**
 * The prefix of content encrypted at rest under a tenant's own key. The text has the form `omhe1.<key id>.<record
 * id>.<base64url of nonce, ciphertext and tag>`. No JSON begins like it.
 */
export const ciphertextPrefix = 'omhe1.'
const firstCode = ciphertextPrefix.charCodeAt(0)

/** Encrypts the contents of one tenant under its newest key. Valid until the transaction, or the call, ends. */
export interface ContentEncryptor {
  readonly keyId: string
  /**
   * Encrypts a text.
   *
   * @param recordId the record of the text; the result decrypts for no other record
   */
  seal(recordId: string, text: string): string
}

/** Identifies a destroyed key, and the governance event that records its destruction. */
export interface DestroyedKey {
  keyId: string
  eventId: string | null
}

/**
 * Decrypts and encrypts contents with the keys cached in this process. Its knowledge of keys is at most five seconds
 * old. All methods but {@link RecordContents.outside} belong inside a transaction: if something must be fetched first,
 * they throw `FetchRequiredError`, and the transaction runs again.
 */
export interface RecordContents {
  /**
   * Returns the decrypted text, or the stored text if it does not decrypt: its key was destroyed, or it was edited, and
   * then it does not match its hash.
   */
  open(tenantId: string, recordId: string, stored: string): string
  /** Decrypts by the record id in the text itself, if no other source names it. The reader must compare the id. */
  openJoined(tenantId: string, stored: string): string
  /** Returns the destroyed key under which a stored text is encrypted, if any. */
  destroyedKeyOf(tenantId: string, stored: string): DestroyedKey | undefined
  /** Returns the prefixes of texts whose keys were destroyed, as far as they are cached. */
  erasedBeginnings(tenantId: string): readonly string[]
  /**
   * Returns the number of destroyed keys of the tenant, and prevents further destruction until the transaction ends.
   * From then on this process decrypts nothing with a counted key.
   */
  destructions(tx: TenantTx): Promise<number>
  /**
   * Returns an encryptor for the tenant's active key, which stays active until the transaction ends; undefined for a
   * tenant without a key.
   */
  sealer(tx: TenantTx): Promise<ContentEncryptor | undefined>
  /**
   * Returns an encryptor outside of a transaction, for the steps of `Database.ingest`. Their first step must be {@link
   * requireContentKey}. Throws DomainError `hub-not-provisioned` for a tenant without a key.
   *
   * @param fresh reads the active key again
   */
  outside(tenantId: string, fresh?: boolean): Promise<ContentEncryptor>
}

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
  return isCiphertext(stored) ? tx.contents.open(tx.tenantId, recordId, stored) : stored
}

/** Decrypts the text of one of several joined rows (see {@link RecordContents.openJoined}). */
export function decryptJoined(tx: TenantTx, stored: string): string {
  return isCiphertext(stored) ? tx.contents.openJoined(tx.tenantId, stored) : stored
}

/** Applies {@link decryptContent} in place to rows with these names for id and text. */
export function decryptRows<Row extends { record_id: string; canonical: string | null }>(
  tx: TenantTx,
  rows: readonly Row[],
): void {
  for (const row of rows) {
    if (row.canonical !== null && isCiphertext(row.canonical)) {
      row.canonical = tx.contents.open(tx.tenantId, row.record_id, row.canonical)
    }
  }
}

/** Returns whether a text, decrypted or stored, is lost with its destroyed key. */
export function isErased(tx: TenantTx, text: string | null): boolean {
  return text !== null && isCiphertext(text) && tx.contents.destroyedKeyOf(tx.tenantId, text) !== undefined
}

/** Returns the encryptor of a tenant in Mode B. Throws DomainError `hub-not-provisioned` for a tenant without a key. */
export async function contentEncryptor(tx: TenantTx): Promise<ContentEncryptor> {
  const sealer = await tx.contents.sealer(tx)
  if (sealer === undefined) throw withoutContentKey()
  return sealer
}

export function withoutContentKey(): DomainError {
  return new DomainError(
    'hub-not-provisioned',
    'This tenant runs in Mode B and its Hub has no key. Call POST /api/v1/hub/provision with `cmek` first.',
  )
}

/** The contents of a process, or a test, without keys. */
export const noContents: RecordContents = {
  open: (_tenantId, _recordId, stored) => stored,
  openJoined: (_tenantId, stored) => stored,
  destroyedKeyOf: () => undefined,
  erasedBeginnings: () => [],
  destructions: async () => 0,
  sealer: async () => undefined,
  outside: async () => {
    throw withoutContentKey()
  },
}
