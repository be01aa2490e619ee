import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

/** `welcome` makes its owner the administrator; `sign_in` signs a known person in. */
export type LinkPurpose = 'welcome' | 'sign_in'

export interface IssuedLink {
  url: string
  /** RFC 3339, UTC, six fractional digits. */
  expiresAt: string
}

/** What a link stands for. */
export interface OpenLink {
  purpose: LinkPurpose
  email: string
  expiresAt: string
}

/** A link that was made, whether or not it still opens. */
export interface KnownLink extends OpenLink {
  /** Neither used nor expired. */
  isOpen: boolean
}

/** Links that sign in: 24 hours, once, stored as a hash. All work inside the caller's transaction. */
export interface SignInLinks {
  issue(tx: TenantTx, tenant: Tenant, email: string, purpose: LinkPurpose): Promise<IssuedLink>
  /** A token to be given to {@link issueForMail}: 256 random bits, as text for an address. */
  newToken(): string
  /**
   * The `sign_in` link of that token, so that trying to mail it again takes the same link. Undefined when the address
   * was sent one less than a minute ago, or five within the hour: those are as good. Undefined, too, when the link of
   * the token is used or expired.
   */
  issueForMail(tx: TenantTx, tenant: Tenant, email: string, token: string): Promise<IssuedLink | undefined>
  /** Whether the tenant was ever given a welcome link. */
  hasWelcomeLink(tx: TenantTx): Promise<boolean>
  /** Looks without using it up; undefined when the tenant has no such link, nor had one within the last week. */
  look(tx: TenantTx, token: string): Promise<KnownLink | undefined>
  /** Uses it up: of two at once only one gets it. */
  consume(tx: TenantTx, token: string): Promise<OpenLink | undefined>
  /** Ends all links of that purpose that were not used: whoever has one no longer gets in by it. */
  endOpen(tx: TenantTx, purpose: LinkPurpose): Promise<void>
  /** A chore: forgets a part of those that expired long ago; true when there may be more. */
  forgetExpired(tx: TenantTx): Promise<boolean>
}
