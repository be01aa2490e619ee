import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

/** The secrets of a login from its start to its end, encrypted in a cookie in between. */
export interface LoginSecrets {
  state: string
  nonce: string
  /** Code verifier of PKCE, RFC 7636. */
  codeVerifier: string
}

/** The verified claims of a person: issuer, audience, nonce, times and signature were checked. */
export interface ProviderClaims {
  connectionId: string
  subject: string
  email: string | undefined
  /** Undefined if the provider does not state it. */
  emailVerified: boolean | undefined
  displayName: string | undefined
}

export interface IdentityProvider {
  readonly connectionId: string
  readonly allowedEmailDomains: readonly string[]
  /** Returns whether the domain of an address is allowed, regardless of case and script. */
  allowsEmail(email: string): boolean
  /**
   * Returns the address to send the browser to: authorization code, PKCE S256, state, nonce. Throws `hub-unavailable`.
   */
  loginUrl(login: LoginSecrets, redirectUri: string): Promise<URL>
  /**
   * Exchanges the code of a callback. Throws DomainError: `validation-failed` for a callback that does not answer this
   * login (state, `iss` of RFC 9207, an error of the provider, an unknown code); `hub-unavailable` if the provider is
   * unreachable or rejects the Hub's own secret; `authentication-failed` with the reason `id_token` for a token that is
   * not the provider's, or not for this client and this login.
   */
  finish(callback: URL, login: LoginSecrets, redirectUri: string): Promise<ProviderClaims>
}

export interface IdentityProviders {
  /** Returns the configured provider of the tenant, or undefined. */
  of(tenant: Pick<Tenant, 'slug'>): Promise<IdentityProvider | undefined>
  /** Returns whether the tenant has a provider, inside a transaction. */
  isConfigured(tx: TenantTx): Promise<boolean>
}

/** The state of a tenant's single sign-on. */
export interface SsoHealth {
  configured: boolean
  connectionId?: string
  /** True if the provider's configuration and keys could be fetched. */
  healthy: boolean
  /** RFC 3339; absent while the first check runs. */
  checkedAt?: string
  /** A description without secrets. */
  detail: string
}

export interface SsoHealthReader {
  /**
   * Returns the result of a check that is at most ten seconds old, within about three seconds. Opens its own
   * transactions.
   */
  of(tenant: Pick<Tenant, 'slug'>): Promise<SsoHealth>
}
