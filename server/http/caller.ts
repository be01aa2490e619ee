import type { TenantMode } from '../../contract/literals.ts'
import type { Scope } from '../../contract/scopes.ts'
import type { JsonValue } from '../../provenance/json.ts'

/** A tenant as every request uses it. */
export interface Tenant {
  slug: string
  mode: TenantMode
  /** The address in `type`, `iss` and links of this tenant, without a trailing slash. */
  baseUrl: string
  /** Whether it is a Mode C tenant that is served only at `baseUrl`. */
  hasOwnAddress: boolean
  /** The opaque name of the tenant's log, under which its keys are published. */
  logName: string
}

/**
 * Returns whether a tenant is served at the host of a request: a tenant with its own address only there, all others
 * only at the common address (interface section 1, rule 4).
 *
 * @param hostTenant slug of the tenant whose own address the host is
 */
export function isServedAt(hostTenant: string | undefined, tenant: Tenant): boolean {
  return hostTenant === (tenant.hasOwnAddress ? tenant.slug : undefined)
}

/** The claims of a verified access token. */
export interface TokenClaims {
  subject: string
  clientId: string
  tenantSlug: string
  tokenId: string
  scopes: ReadonlySet<Scope>
  /** Seconds since 1970. */
  expiresAt: number
  /** The session, in tokens of people. */
  sessionId?: string
  /** The name that an agent gave itself: an OAuth client that the person authorized. Absent in all other tokens. */
  clientName?: string
  /** The generation of the person's or the account's tokens; a revocation raises the lowest valid one. */
  epoch: number
  /** Networks in CIDR notation that the token may come from; absent allows any. */
  allowedAddresses?: readonly string[]
}

/** Identifies the caller and its tenant. It is set on `request.caller` after authentication. */
export interface Caller {
  subject: string
  clientId: string
  tokenId: string
  tenant: Tenant
  scopes: ReadonlySet<Scope>
  /** The session, if a person calls. */
  sessionId?: string
  /** The name of the agent that calls for the person. */
  clientName?: string
  address: string
  requestId: string
}

/**
 * Returns the member of an event's details that names an agent and its authorization; nothing for another caller. It
 * is apart from the other members, because an event may concern another authorization.
 */
export function agentDetails({
  clientName,
  sessionId,
}: Pick<Caller, 'clientName' | 'sessionId'>): Record<string, JsonValue> {
  if (clientName === undefined || sessionId === undefined) return {}
  return { agent: { client_name: clientName, session_id: sessionId } }
}

/** A refused request with a valid token. */
export interface AccessDenial {
  claims: TokenClaims
  reason: 'scope' | 'wrong_tenant'
  /** The operation, and its required or requested values. */
  details: Record<string, string | string[]>
  address: string
  requestId: string
}

/** The access that the HTTP layer needs of other modules; `server/app.ts` passes it in. */
export interface AccessControl {
  /** Verifies an access token that came from that address. Throws DomainError `authentication-failed`. */
  authenticate(bearerToken: string, address: string): Promise<TokenClaims>
  /** Finds a tenant by slug, or returns undefined. */
  findTenant(slug: string): Promise<Tenant | undefined>
  /** Returns the Mode C tenant whose own address has this host; undefined for the common address and any other. */
  tenantAt(host: string): Promise<Tenant | undefined>
  /** Receives refusals for tenant or scope. It never throws, and nobody waits for it. */
  refused?(refusal: AccessDenial): void
}
