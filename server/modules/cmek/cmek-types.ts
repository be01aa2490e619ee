import type { Static } from 'typebox'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { DestroyedResponse, RotatedResponse } from './cmek-schemas.ts'

/** Encrypts secrets of a tenant at rest: under its own key in Mode B, otherwise under the master key. */
export interface TenantSecrets {
  /**
   * Encrypts a secret.
   *
   * @param context names the owner of the secret, such as its table and id; `open` requires the same
   */
  encrypt(tx: TenantTx, tenant: Tenant, plaintext: string, context: string): Promise<Buffer>
  /**
   * Decrypts a secret. Returns undefined once its key is destroyed. Throws DomainError `hub-unavailable` while the key
   * is unreachable.
   */
  decrypt(tx: TenantTx, tenant: Tenant, sealed: Buffer, context: string): Promise<string | undefined>
}

/** The encryption state of a tenant's content, with the member names of the response. */
export type CmekState = Static<typeof RotatedResponse>

/** The key that a tenant has chosen. */
export type KeyChoice = Pick<CmekState, 'provider' | 'key_ref'>

/** Content keys destroyed in one call, with the member names of the response. */
export type Destroyed = Static<typeof DestroyedResponse>

/** The owner of a content key. Unwrapping requires the same context. */
export interface KeyContext {
  tenant: string
  keyId: string
}

/**
 * A store of customer keys. Keys never leave it, except those of the local keyring. It wraps the keys that encrypt
 * content. Every method throws `KeyProviderError`.
 */
export interface KeyProvider {
  /** Returns the problem of a key's name, phrased to follow that name; undefined if there is none. */
  problemOf(keyRef: string): string | undefined
  /** Wraps a key under the newest version of the customer's key. */
  wrap(keyRef: string, key: Buffer, context: KeyContext): Promise<Buffer>
  unwrap(keyRef: string, wrapped: Buffer, context: KeyContext): Promise<Buffer>
  /** Destroys every key of a tenant that this provider stores itself. In external stores the customer destroys them. */
  destroyKeysOf?(tenantId: string): Promise<void>
}

/** Keys wrapped before the transaction that stores them, so that no transaction waits for a provider. */
export interface PreparedKeys {
  readonly choice: KeyChoice
}

/** Manages the keys of tenants in Mode B for provisioning. */
export interface ContentKeyring {
  /**
   * Wraps a first content key, or the existing ones under another key of the customer; returns undefined if nothing
   * changes. Throws DomainError `validation-failed` for an unusable key, `hub-unavailable` while its provider is
   * unreachable.
   */
  prepare(tenant: Tenant, choice: KeyChoice | undefined): Promise<PreparedKeys | undefined>
  /**
   * Stores prepared keys with their governance event. Throws `concurrent-modification` if the keys have changed
   * meanwhile.
   */
  store(tx: TenantTx, caller: Caller, prepared: PreparedKeys): Promise<void>
  /** Returns the state; undefined without a content key. */
  state(tx: TenantTx): Promise<CmekState | undefined>
}
