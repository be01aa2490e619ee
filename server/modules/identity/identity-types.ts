import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

/** What a login carries from its beginning to its end; sealed into a cookie in between. */
export interface LoginSecrets {
  state: string
  nonce: string
  /** PKCE, RFC 7636. */
  codeVerifier: string
}

/** What an identity provider said of who came back from it, checked: issuer, audience, nonce, times, signature. */
export interface ProviderClaims {
  connectionId: string
  subject: string
  email: string | undefined
  /** Undefined where the provider does not say. */
  emailVerified: boolean | undefined
  displayName: string | undefined
}

/** The identity provider of a tenant. */
export interface IdentityProvider {
  readonly connectionId: string
  readonly allowedEmailDomains: readonly string[]
  /** Whether the domain of an address is one of these, in whatever case and script it is written. */
  allowsEmail(email: string): boolean
  /** Where to send the browser: authorization code, PKCE S256, state, nonce. Throws `hub-unavailable`. */
  loginUrl(login: LoginSecrets, redirectUri: string): Promise<URL>
  /**
   * Exchanges the code of a callback. Throws DomainError `validation-failed` for a callback that is not the answer to
   * this login (state, `iss` of RFC 9207, an error of the provider, a code it does not know), `hub-unavailable` when
   * the provider does not answer or refuses the Hub's own secret, `authentication-failed` with the reason `id_token`
   * for a token that is not the provider's, for this client and this login.
   */
  finish(callback: URL, login: LoginSecrets, redirectUri: string): Promise<ProviderClaims>
}

export interface IdentityProviders {
  /** The provider that the tenant configured, or undefined. */
  of(tenant: Pick<Tenant, 'slug'>): Promise<IdentityProvider | undefined>
  /** Whether the tenant has one, inside a transaction. */
  isConfigured(tx: TenantTx): Promise<boolean>
}

/** How the sign-in of a tenant stands. */
export interface SsoHealth {
  configured: boolean
  connectionId?: string
  /** The provider's configuration and keys could be fetched. */
  healthy: boolean
  /** RFC 3339; absent while the first check goes on. */
  checkedAt?: string
  /** In words; no secret. */
  detail: string
}

export interface SsoHealthReader {
  /** From a check that is at most ten seconds old. Answers within some three seconds. Opens transactions of its own. */
  of(tenant: Pick<Tenant, 'slug'>): Promise<SsoHealth>
}
