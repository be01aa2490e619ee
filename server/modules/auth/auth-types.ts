import type { Scope } from '../../../contract/scopes.ts'
import type { Tenant } from '../../http/caller.ts'
import type { Actor } from '../governance/governance-types.ts'

export interface NewServiceAccount {
  name: string
  scopes: readonly string[]
}

/** In the names of the answer. The secret is shown this once. */
export interface ServiceAccountCredentials {
  client_id: string
  client_secret: string
  name: string
  tenant: string
  scopes: Scope[]
}

export interface ServiceAccounts {
  /** Several accounts may have one name. Throws `validation-failed` for an unknown scope or an unusable name. */
  create(tenant: Tenant, account: NewServiceAccount, actor: Actor): Promise<ServiceAccountCredentials>
  /**
   * Gives the enabled account of that name, of several the oldest, a further secret, or answers undefined where there
   * is none. Two secrets live at most: the one before this ends in 24 hours, any older one now.
   */
  rotateSecret(tenant: Tenant, name: string, actor: Actor): Promise<ServiceAccountCredentials | undefined>
}

/** A token of interface 2.7, in the names of the answer. */
export interface ServiceToken {
  access_token: string
  /** Seconds. */
  expires_in: number
  token_type: 'Bearer'
  /** Space-delimited. */
  scope: string
}

/** Error codes of RFC 6749, section 5.2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'

/** What a token request authenticates and asks with. */
export interface TokenRequest {
  clientId: string
  clientSecret: string
  /** The secret came in an Authorization header, so a refusal answers with a challenge. */
  basic: boolean
  /** Absent: all that are assigned. */
  scopes: readonly string[] | undefined
  /** X-Service-Tenant, which standard clients cannot send. */
  tenantHeader: string | undefined
}

/** Counts a token request against the limits of its class. Both throw DomainError `rate-limited`. */
export interface TokenCharge {
  /** Before the secret is looked at: against the caller's address and the client id it names, never a tenant. */
  attempt(clientId: string): Promise<void>
  /** With a valid credential: against the client and its tenant instead. */
  succeed(clientId: string, tenantSlug: string): Promise<void>
}

export interface TokenService {
  /**
   * Throws DomainError with the members of an OAuth error. At a tenant's own address, which `servedTenant` then names,
   * the accounts of other tenants are unknown.
   */
  issue(request: TokenRequest, charge: TokenCharge, servedTenant?: string): Promise<ServiceToken>
}
