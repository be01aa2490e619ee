import type {
  ContentEncryptor,
  Database,
  DatabaseLog,
  DestroyedKey,
  RecordContents,
  TenantTx,
} from '../../db/database.ts'
import { FetchRequiredError } from '../../db/fetch-required.ts'
import { withoutContentKey } from '../../db/record-encryption.ts'
import { decryptText, encryptText, keyIdOf, recordIdOf } from './content-cipher.ts'
import { activeKeyId, type ContentKeyRow, contentKeys, shareContentKeysLock } from './content-keys-store.ts'
import { KeyLists } from './key-lists.ts'
import type { KeyProviders } from './providers/key-providers.ts'
import { type UnwrappedKey, UnwrappedKeys } from './unwrapped-keys.ts'

/** Encrypts and decrypts contents with the content keys of this process. */
export class ContentKeys implements RecordContents {
  readonly #lists: KeyLists
  readonly #unwrapped: UnwrappedKeys
  readonly #encryptors = new WeakMap<TenantTx, Promise<ContentEncryptor | undefined>>()

  constructor(deps: { database: Database; providers: KeyProviders; log: Pick<DatabaseLog, 'warn'> }) {
    const { database, providers, log } = deps
    this.#unwrapped = new UnwrappedKeys(providers)
    this.#lists = new KeyLists({ database, log, destroyed: (...key) => this.#unwrapped.drop(...key) })
  }

  decrypt(tenantId: string, recordId: string, stored: string): string {
    const keyId = keyIdOf(stored)
    const key = keyId === undefined ? undefined : this.keyOf(tenantId, keyId)
    return (key && decryptText(key, tenantId, recordId, stored)) ?? stored
  }

  openJoined(tenantId: string, stored: string): string {
    return this.decrypt(tenantId, recordIdOf(stored), stored)
  }

  destroyedKeyOf(tenantId: string, stored: string): DestroyedKey | undefined {
    const keyId = keyIdOf(stored)
    const row = keyId === undefined ? undefined : this.#lists.required(tenantId).rows.get(keyId)
    return row?.state === 'destroyed' ? { keyId: row.key_id, eventId: row.event_id } : undefined
  }

  erasedBeginnings(tenantId: string): readonly string[] {
    return this.#lists.last(tenantId)?.erasedBeginnings ?? []
  }

  async destructions(tx: TenantTx): Promise<number> {
    await shareContentKeysLock(tx)
    const destroyed = (await contentKeys(tx)).filter((row) => row.state === 'destroyed').length
    if (this.erasedBeginnings(tx.tenantId).length !== destroyed) this.changed(tx.tenantId)
    return destroyed
  }

  encryptor(tx: TenantTx): Promise<ContentEncryptor | undefined> {
    const begun = this.#encryptors.get(tx) ?? this.#encryptorIn(tx)
    this.#encryptors.set(tx, begun)
    return begun
  }

  async outside(tenantId: string, fresh = false): Promise<ContentEncryptor> {
    const recent = fresh ? undefined : this.#lists.recent(tenantId)?.active
    const row = recent ?? (await this.#lists.readAfter(tenantId)).active
    if (row === undefined) throw withoutContentKey()
    if (!this.#unwrapped.get(tenantId, row.key_id)) await this.#unwrapped.unwrap(tenantId, row)
    const held = this.#unwrapped.get(tenantId, row.key_id)
    if (held === undefined) throw withoutContentKey()
    return this.#encryptorWith(tenantId, row.key_id, held)
  }

  /**
   * Returns a key by its id in a transaction; undefined if it was destroyed or never existed. Throws
   * `FetchRequiredError`.
   */
  keyOf(tenantId: string, keyId: string): Buffer | undefined {
    return this.#held(tenantId, keyId)?.key
  }

  /** Returns the active key in a transaction and locks the keys until its end. Throws `FetchRequiredError`. */
  async activeKey(tx: TenantTx): Promise<{ keyId: string; held: UnwrappedKey } | undefined> {
    await shareContentKeysLock(tx)
    const keyId = await activeKeyId(tx)
    if (keyId === undefined) return undefined
    const held = this.#held(tx.tenantId, keyId)
    if (held) return { keyId, held }
    // The row exists and is active, so the cached list is outdated.
    throw fetchRequired(keyId, () => this.#lists.readAfter(tx.tenantId))
  }

  /** Marks the tenant's key list as stale, so that the next use reads it again and zeroes destroyed keys. */
  changed(tenantId: string): void {
    this.#lists.changed(tenantId)
  }

  close(): void {
    this.#unwrapped.close()
  }

  /** Returns a key in memory. Throws `FetchRequiredError` for a key that can be unwrapped. */
  #held(tenantId: string, keyId: string): UnwrappedKey | undefined {
    const { rows, absent } = this.#lists.required(tenantId)
    const row = rows.get(keyId)
    if (row === undefined) {
      if (absent.has(keyId)) return undefined
      throw fetchRequired(keyId, () => this.#lists.lookFor(tenantId, keyId))
    }
    if (row.state === 'destroyed') return undefined
    const held = this.#unwrapped.get(tenantId, keyId)
    if (held === undefined) throw fetchRequired(keyId, () => this.#fetchKey(tenantId, row))
    this.#unwrapped.renew(tenantId, row)
    return held
  }

  /** Fetches a key. After a rotated key, the other rotated keys are likely to follow, so it fetches those too. */
  async #fetchKey(tenantId: string, row: ContentKeyRow): Promise<void> {
    await this.#unwrapped.unwrap(tenantId, row)
    if (row.state !== 'retired') return
    const rows = this.#lists.last(tenantId)?.rows.values() ?? []
    const retired = [...rows].filter(({ state }) => state === 'retired')
    await this.#unwrapped.unwrapMissing(tenantId, retired)
  }

  async #encryptorIn(tx: TenantTx): Promise<ContentEncryptor | undefined> {
    const active = await this.activeKey(tx)
    return active && this.#encryptorWith(tx.tenantId, active.keyId, active.held)
  }

  #encryptorWith(tenantId: string, keyId: string, held: UnwrappedKey): ContentEncryptor {
    return {
      keyId,
      encrypt: (recordId, text) => {
        if (!held.isHeld) throw fetchRequired(keyId, () => this.#lists.read(tenantId))
        return encryptText(held.key, keyId, tenantId, recordId, text)
      },
    }
  }
}

function fetchRequired(keyId: string, read: () => Promise<unknown>): FetchRequiredError {
  return new FetchRequiredError(`the content key ${keyId}`, async () => void (await read()))
}
