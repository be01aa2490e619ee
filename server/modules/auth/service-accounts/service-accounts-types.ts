import type { Scope } from '../../../../contract/scopes.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'

export interface NewServiceAccount {
  name: string
  scopes: readonly string[]
  /** RFC 3339, in the future; absent is never. */
  expires_at?: string | undefined
  /** Addresses and networks in CIDR notation that the account may be used from; absent is anywhere. */
  allowed_addresses?: readonly string[] | undefined
}

/** What changes; `null` takes the expiry or the list away. */
export interface ServiceAccountChanges {
  name?: string | undefined
  scopes?: readonly string[] | undefined
  expires_at?: string | null | undefined
  allowed_addresses?: readonly string[] | null | undefined
}

/** In the names of the answer. The secret is shown this once. */
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

/** In the names of the answer, without its secrets. */
export interface ServiceAccount {
  client_id: string
  name: string
  scopes: Scope[]
  created_at: string
  last_used_at?: string
  /** From then on it is disabled, for good. */
  disabled_at?: string
  expires_at?: string
  allowed_addresses?: string[]
  /** Those that are live, oldest first. */
  secrets: { created_at: string; expires_at?: string }[]
}

/** In the names of the answer. */
export interface RotatedSecret {
  client_id: string
  /** Shown this once. */
  client_secret: string
  previous_secret_expires_at: string
}

/**
 * The service accounts of tenants. Every change writes one governance event. Those that name an account throw
 * `not-found` when the tenant has none of that id, and to change one that is disabled is `concurrent-modification`.
 */
export interface ServiceAccounts {
  /** Several accounts may have one name. Throws `validation-failed` with a pointer to each member that is wrong. */
  create(tenant: Tenant, account: NewServiceAccount, actor: Actor): Promise<ServiceAccountCredentials>
  /** Oldest first, with those that are disabled. */
  list(
    tenant: Tenant,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<{ items: ServiceAccount[]; next_cursor: string | null }>
  get(tenant: Tenant, clientId: string): Promise<ServiceAccount>
  /**
   * Whatever takes something away (a scope, time, an address) ends the access tokens that are about, within 5 seconds.
   * Repeating a change changes nothing and writes no event.
   */
  update(tenant: Tenant, clientId: string, changes: ServiceAccountChanges, actor: Actor): Promise<ServiceAccount>
  /** For good, and its access tokens end within 5 seconds. Repeating it changes nothing. */
  disable(tenant: Tenant, clientId: string, actor: Actor): Promise<ServiceAccount>
  /** A further secret. Two live at most: the one before this ends in 24 hours, any older one now. */
  rotate(tenant: Tenant, clientId: string, actor: Actor): Promise<RotatedSecret>
  /** {@link rotate} of the enabled account of that name, of several the oldest. Undefined where there is none. */
  rotateSecret(tenant: Tenant, name: string, actor: Actor): Promise<ServiceAccountCredentials | undefined>
}
