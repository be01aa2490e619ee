import type { Scope } from '../../../../contract/scopes.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'

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

/** New credentials, with the member names of the response. The secret is shown only once. */
export interface ServiceAccountCredentials {
  client_id: string
  client_secret: string
  name: string
  tenant: string
  scopes: Scope[]
  created_at: string
  expires_at?: string
  allowed_addresses?: string[]
}

/** A service account without secrets, with the member names of the response. */
export interface ServiceAccount {
  client_id: string
  name: string
  scopes: Scope[]
  created_at: string
  last_used_at?: string
  /** Time since when the account is disabled, permanently. */
  disabled_at?: string
  expires_at?: string
  allowed_addresses?: string[]
  /** The unexpired secrets, oldest first. */
  secrets: { created_at: string; expires_at?: string }[]
}

/** A rotated secret, with the member names of the response. */
export interface RotatedSecret {
  client_id: string
  /** Shown only once. */
  client_secret: string
  previous_secret_expires_at: string
}

/**
 * Manages the service accounts of tenants. Every change writes one governance event. Methods that take a client id
 * throw `not-found` if the tenant has no such account, and `concurrent-modification` on a change of a disabled one.
 */
export interface ServiceAccounts {
  /** Creates an account; names need not be unique. Throws `validation-failed` with a pointer to each invalid member. */
  create(tenant: Tenant, account: NewServiceAccount, actor: Actor): Promise<ServiceAccountCredentials>
  /** Returns a page of accounts, oldest first, disabled ones included. */
  list(
    tenant: Tenant,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<{ items: ServiceAccount[]; next_cursor: string | null }>
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
