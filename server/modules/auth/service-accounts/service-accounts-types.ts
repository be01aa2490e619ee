import type { Static } from 'typebox'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type {
  AccountList,
  AccountResponse,
  CredentialsResponse,
  RotatedSecretResponse,
} from './service-accounts-schemas.ts'

export interface NewServiceAccount {
  name: string
  scopes: readonly string[]
  /** Expiry as RFC 3339, in the future. Absent: never. */
  expires_at?: string | undefined
  /** Addresses and networks in CIDR notation that the account may be used from. Absent: anywhere. */
  allowed_addresses?: readonly string[] | undefined
}

/** The changed members; `null` removes the expiry or the address list. */
export interface ServiceAccountChanges {
  name?: string | undefined
  scopes?: readonly string[] | undefined
  expires_at?: string | null | undefined
  allowed_addresses?: readonly string[] | null | undefined
}

/** New credentials. The secret is shown only once. */
export type ServiceAccountCredentials = Static<typeof CredentialsResponse>

/** A service account without secrets. */
export type ServiceAccount = Static<typeof AccountResponse>

/** A rotated secret, shown only once. */
export type RotatedSecret = Static<typeof RotatedSecretResponse>

/**
 * Manages the service accounts of tenants. Every change writes one governance event. Methods that take a client id
 * throw `not-found` if the tenant has no such account, and `concurrent-modification` on a change of a disabled one.
 */
export interface ServiceAccounts {
  /** Creates an account; names need not be unique. Throws `validation-failed` with a pointer to each invalid member. */
  create(tenant: Tenant, account: NewServiceAccount, actor: Actor): Promise<ServiceAccountCredentials>
  /** Returns a page of accounts, oldest first, disabled ones included. */
  list(tenant: Tenant, page: { limit: number; cursor?: string | undefined }): Promise<Static<typeof AccountList>>
  get(tenant: Tenant, clientId: string): Promise<ServiceAccount>
  /**
   * Updates an account. A change that removes a right (a scope, time, an address) ends its live access tokens within 5
   * seconds. Repeating a change does nothing and writes no event.
   */
  update(tenant: Tenant, clientId: string, changes: ServiceAccountChanges, actor: Actor): Promise<ServiceAccount>
  /** Disables the account permanently and ends its access tokens within 5 seconds. Repeating it does nothing. */
  disable(tenant: Tenant, clientId: string, actor: Actor): Promise<ServiceAccount>
  /** Adds a secret. At most two are valid: the previous one expires in 24 hours, any older one now. */
  rotate(tenant: Tenant, clientId: string, actor: Actor): Promise<RotatedSecret>
  /** Calls {@link rotate} for the oldest enabled account with that name. Returns undefined if there is none. */
  rotateSecret(tenant: Tenant, name: string, actor: Actor): Promise<ServiceAccountCredentials | undefined>
}
