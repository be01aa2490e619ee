import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'

/** Seals secrets of a tenant at rest: under its own key in Mode B, else under the master key. */
export interface TenantSecrets {
  /** @param context names what the secret belongs to, such as its table and id; opening needs the same */
  seal(tx: TenantTx, tenant: Tenant, plaintext: string, context: string): Promise<Buffer>
  /** Undefined once its key is destroyed. Throws DomainError `hub-unavailable` while the key cannot be reached. */
  open(tx: TenantTx, tenant: Tenant, sealed: Buffer, context: string): Promise<string | undefined>
}

export type KeyProviderName = 'local' | 'aws-kms' | 'vault'

/** What a content key belongs to. It has to be the same when it is unwrapped. */
export interface KeyContext {
  tenant: string
  keyId: string
}

/**
 * Where customers' keys are. They never leave it, except for those of the local keyring; it wraps with them the keys
 * that contents are sealed under. All throw `KeyProblem`.
 */
export interface KeyProvider {
  /** What is wrong with the name of a key, in words that follow it; undefined where nothing is. */
  problemOf(keyRef: string): string | undefined
  /** Under the newest version of the customer's key. */
  wrap(keyRef: string, key: Buffer, context: KeyContext): Promise<Buffer>
  unwrap(keyRef: string, wrapped: Buffer, context: KeyContext): Promise<Buffer>
  /** Destroys every key of a tenant that this provider keeps itself. Elsewhere they are the customer's to destroy. */
  destroyKeysOf?(tenantId: string): Promise<void>
}

/** Which key a tenant has named. */
export interface KeyChoice {
  provider: KeyProviderName
  key_ref: string
}

/** How the contents of a tenant are encrypted, in the names of the answer. */
export interface CmekState extends KeyChoice {
  /** Of the content key that is in use. */
  key_id: string
  created_at: string
  /** When the content keys were wrapped last. */
  wrapped_at: string
  /** Content keys that still open something, the one in use among them. */
  content_keys: number
}

/** A content key that was wrapped before the transaction that stores it: providers are never waited for inside of one. */
export interface PreparedKeys {
  readonly choice: KeyChoice
}

/** The keys of tenants in Mode B, as provisioning sees them. */
export interface ContentKeyring {
  /**
   * Wraps a first content key, or those that there are under another key of the customer; undefined where nothing
   * changes. Throws DomainError `validation-failed` for a key that cannot be used, `hub-unavailable` while its
   * provider cannot be reached.
   */
  prepare(tenant: Tenant, choice: KeyChoice | undefined): Promise<PreparedKeys | undefined>
  /** Stores what was prepared, with its governance event. Throws `concurrent-modification` when somebody was faster. */
  store(tx: TenantTx, caller: Caller, prepared: PreparedKeys): Promise<void>
  /** Undefined without a content key. */
  state(tx: TenantTx): Promise<CmekState | undefined>
}
