import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

/**
 * Purpose of a link: `welcome` makes its owner the administrator; `sign_in` signs a known person in; `invitation` signs
 * a known person in for the first time.
 */
export type LinkPurpose = 'welcome' | 'sign_in' | 'invitation'

export interface IssuedLink {
  url: string
  /** RFC 3339, UTC, six fractional digits. */
  expiresAt: string
}

/** The content of a link. */
export interface OpenLink {
  purpose: LinkPurpose
  email: string
  expiresAt: string
}

/** An issued link, whether or not it still opens. */
export interface KnownLink extends OpenLink {
  /** True if neither used nor expired. */
  isOpen: boolean
}

/**
 * Manages sign-in links, which are valid once within 24 hours and stored as a hash. Every method works inside the
 * caller's transaction.
 */
export interface SignInLinks {
  issue(tx: TenantTx, tenant: Tenant, email: string, purpose: LinkPurpose): Promise<IssuedLink>
  /** Returns a token for {@link issueForMail}: 256 random bits, as text for an address. */
  newToken(): string
  /**
   * Returns the `sign_in` link of the token, so that a retried mail has the same link. Returns undefined if the address
   * got a link less than a minute ago, or five within the hour: those still work. Returns undefined also if the link of
   * the token is used or expired.
   */
  issueForMail(tx: TenantTx, tenant: Tenant, email: string, token: string): Promise<IssuedLink | undefined>
  /**
   * Issues the invitation of an address and ends the earlier ones, so that one opens at most. Throws `rate-limited` once
   * the address has reached its limit for the hour, or the tenant for the day.
   */
  invite(tx: TenantTx, tenant: Tenant, email: string): Promise<IssuedLink>
  /** Returns whether the tenant ever had a welcome link. */
  hasWelcomeLink(tx: TenantTx): Promise<boolean>
  /**
   * Finds a link without consuming it. Returns undefined if it never existed or was deleted, a week after it expired.
   */
  look(tx: TenantTx, token: string): Promise<KnownLink | undefined>
  /** Consumes a link; of two concurrent calls only one gets it. */
  consume(tx: TenantTx, token: string): Promise<OpenLink | undefined>
  /** Invalidates all unused links of that purpose; with an address, only its own. */
  endOpen(tx: TenantTx, purpose: LinkPurpose, email?: string): Promise<void>
  /** Deletes, as a chore, a batch of links that expired long ago. Returns true if there may be more. */
  deleteExpired(tx: TenantTx): Promise<boolean>
}
