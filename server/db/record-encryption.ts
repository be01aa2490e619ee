import { DomainError } from '../../contract/domain-error.ts'
import type { TenantTx } from './database.ts'

/**
 * Content at rest under a tenant's own key: a text that stands in the place of the one that it was made of, as
 * `omhe1.<key id>.<record id>.<base64url of nonce, ciphertext and tag>`. No JSON begins like it.
 */
export const ciphertextPrefix = 'omhe1.'
const firstCode = ciphertextPrefix.charCodeAt(0)

/** Seals the contents of one tenant under its newest key. Good until the transaction, or the call, ends. */
export interface ContentEncryptor {
  readonly keyId: string
  /** @param recordId the record that the text belongs to: nowhere else does it open */
  seal(recordId: string, text: string): string
}

/** That a key was destroyed, and the governance event that tells of it. */
export interface DestroyedKey {
  keyId: string
  eventId: string | null
}

/**
 * Opens and seals contents with the keys that are at hand in this process. What it says of keys is at most five
 * seconds old. All but {@link RecordContents.outside} are for the inside of a transaction: they throw `NotAtHand`
 * where something has to be fetched first, and the transaction runs again.
 */
export interface RecordContents {
  /**
   * The text that was sealed. What does not open is answered as it is stored: its key was destroyed, or somebody
   * edited it, and then it is not what its hash says.
   */
  open(tenantId: string, recordId: string, stored: string): string
  /** The same by the id that stands in the text, where nothing else tells; whoever reads on compares it. */
  openJoined(tenantId: string, stored: string): string
  /** The destroyed key that a stored text is sealed under, if it is. */
  destroyedKeyOf(tenantId: string, stored: string): DestroyedKey | undefined
  /** Beginnings of the texts that are gone with their keys, as far as it is known without asking. */
  erasedBeginnings(tenantId: string): readonly string[]
  /**
   * How many keys of the tenant were destroyed, with nobody destroying one until the transaction ends. From then on
   * this process opens nothing with one that is counted.
   */
  destructions(tx: TenantTx): Promise<number>
  /**
   * Seals under the tenant's active key, which stays so until the transaction ends. Undefined for a tenant without one.
   */
  sealer(tx: TenantTx): Promise<ContentEncryptor | undefined>
  /**
   * The same outside of a transaction, for the steps of `Database.ingest`: the first of them has to be
   * {@link requireContentKey}. Throws DomainError `hub-not-provisioned` for a tenant without a key.
   *
   * @param fresh reads which key it is anew
   */
  outside(tenantId: string, fresh?: boolean): Promise<ContentEncryptor>
}

/** Of an ingest transaction: refuses, with SQLSTATE {@link contentKeyChanged}, when another key has become the active one. */
export function requireContentKey(tenantId: string, { keyId }: ContentEncryptor) {
  return { statement: requireKeyStatement, values: [tenantId, keyId] }
}

const requireKeyStatement = { name: 'hub_require_content_key', text: 'select hub.require_content_key($1, $2)' }
/** Of a class that the standard leaves to implementations (SQL, "SQLSTATE": it begins with a digit from 5 on). */
export const contentKeyChanged = '9K001'

/** Cheap, and false for every text of a tenant in mode A or C. */
export function isCiphertext(stored: string): boolean {
  return stored.charCodeAt(0) === firstCode
}

/** The text of a row, see {@link RecordContents.open}. */
export function decryptContent(tx: TenantTx, recordId: string, stored: string): string {
  return isCiphertext(stored) ? tx.contents.open(tx.tenantId, recordId, stored) : stored
}

/** The text of one of several rows that were joined, see {@link RecordContents.openJoined}. */
export function decryptJoined(tx: TenantTx, stored: string): string {
  return isCiphertext(stored) ? tx.contents.openJoined(tx.tenantId, stored) : stored
}

/** {@link decryptContent} for rows that have their id and text under these names; changes the rows. */
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

/** Whether a text, opened or as it is stored, is gone with the key that it was sealed under. */
export function isErased(tx: TenantTx, text: string | null): boolean {
  return text !== null && isCiphertext(text) && tx.contents.destroyedKeyOf(tx.tenantId, text) !== undefined
}

/** The active key of a tenant in Mode B. Throws DomainError `hub-not-provisioned` for a tenant without one. */
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

/** Of a process, or a test, that knows no keys. */
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
