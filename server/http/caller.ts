import type { TenantMode } from '../../contract/literals.ts'
import type { Scope } from '../../contract/scopes.ts'

/** A tenant as every request sees it. */
export interface Tenant {
  slug: string
  mode: TenantMode
  /** Address that `type`, `iss` and links of this tenant use, without a trailing slash. */
  baseUrl: string
  /** Is true for a Mode C tenant that is served at `baseUrl` alone. */
  hasOwnAddress: boolean
  /** Opaque name of the tenant's log, under which its keys are published. */
  logName: string
}

/**
 * Tells whether a tenant is served at the host of a request: one with its own address there alone, all others at the
 * common address alone (interface section 1, rule 4).
 *
 * @param hostTenant slug of the tenant whose own address the host is
 */
export function isServedAt(hostTenant: string | undefined, tenant: Tenant): boolean {
  return hostTenant === (tenant.hasOwnAddress ? tenant.slug : undefined)
}

/** What a verified access token says. */
export interface TokenClaims {
  subject: string
  clientId: string
  tenantSlug: string
  tokenId: string
  scopes: ReadonlySet<Scope>
  /** Seconds since the epoch. */
  expiresAt: number
  /** Of the session, in tokens of people. */
  sessionId?: string
  /** The generation of the person's or the account's tokens; revoking raises the lowest that is good. */
  epoch: number
  /** Networks in CIDR notation that the token may come from; absent is anywhere. */
  allowedAddresses?: readonly string[]
}

/** Who makes a request, for which tenant. Set on `request.caller` once authentication has passed. */
export interface Caller {
  subject: string
  clientId: string
  tokenId: string
  tenant: Tenant
  scopes: ReadonlySet<Scope>
  /** Of the session, when a person calls. */
  sessionId?: string
  address: string
  requestId: string
}

/** A request that was refused although its token is good. */
export interface AccessRefusal {
  claims: TokenClaims
  reason: 'scope' | 'wrong_tenant'
  /** Operation, and what it needed or was asked for. */
  details: Record<string, string | string[]>
  address: string
  requestId: string
}

/** What the HTTP layer asks of the modules behind it; `server/app.ts` passes it in. */
export interface AccessControl {
  /** Reads an access token that came from that address. Throws DomainError `authentication-failed`. */
  authenticate(bearerToken: string, address: string): Promise<TokenClaims>
  /** Finds a tenant by slug, or answers undefined. */
  findTenant(slug: string): Promise<Tenant | undefined>
  /** The Mode C tenant whose own address has this host; undefined at the common address and at any other. */
  tenantAt(host: string): Promise<Tenant | undefined>
  /** Hears of refusals for tenant or scope. It never throws, and nobody waits for it. */
  refused?(refusal: AccessRefusal): void
}
