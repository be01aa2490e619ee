import type { PointedError } from '../../../contract/domain-error.ts'
import type { RateClass } from '../../../contract/limits.ts'
import type { TenantMode } from '../../../contract/literals.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { TenantLimits } from '../../http/rate-limit-headers.ts'
import type { ValidParts } from '../../http/valid-parts.ts'
import type { Actor } from '../governance/governance-types.ts'
import type { IssuedLink } from '../links/links-types.ts'

/** Requests per minute. */
export interface RateLimit {
  perToken: number
  perTenant: number
}

/** The tenants of this service as other modules see them. Look-ups are cached for a few seconds. */
export interface TenantDirectory {
  /**
   * A tenant that the operator has suspended, or whose entry was edited in the database, is found by who asks
   * `evenSuspended`: for work that goes on for it, such as its proofs. All others take it for one that does not exist.
   */
  find(slug: string, options?: { evenSuspended?: boolean }): Promise<Tenant | undefined>
  /**
   * Past the cache, for strangers who may name any tenant: what nobody uses takes no longer than what many use. One that
   * is suspended is left out.
   */
  read(slug: string): Promise<Tenant | undefined>
  /** Every tenant, read afresh: for work that goes through all of them. */
  slugs(): Promise<readonly string[]>
  /** The names of the logs of all tenants, read afresh. */
  logNames(): Promise<readonly string[]>
  /** The tenant's own limits of `hub tenant limits`, only the classes that were set. */
  limitsOf(slug: string): Promise<TenantLimits>
  /**
   * The Mode C tenant whose own address has this host, which may name the port that goes without saying; undefined at
   * any other host. One that is suspended too: nobody else is served at its address.
   */
  atHost(host: string): Promise<Tenant | undefined>
  /** The address, without a trailing slash, of the tenants that have none of their own. */
  commonUrl(): string
}

export interface NewTenant {
  slug: string
  mode: TenantMode
  adminEmail: string
  /** Own address of a Mode C tenant: scheme, host and port. */
  baseUrl?: string | undefined
  /** What people call it; the slug by default. */
  displayName?: string | undefined
}

export interface CreatedTenant {
  tenant: Tenant
  adminEmail: string
  welcome: IssuedLink
}

/** What an operator does with tenants. All throw DomainError; a pointer names the field. */
export interface TenantAdministration {
  /** What is wrong with a tenant that is wanted, whatever other tenants there are. */
  problemsIn(wanted: ValidParts<NewTenant>): PointedError[]
  /**
   * Makes the tenant with its settings, keys and log, and the welcome link of its administrator. It becomes visible
   * in one last step, so what a crash leaves behind is taken up when it is repeated. `concurrent-modification` when
   * the tenant or its address exists.
   */
  create(tenant: NewTenant, actor: Actor): Promise<CreatedTenant>
  /** {@link create} on a service without tenants; answers undefined where there is one. */
  createFirst(tenant: NewTenant, actor: Actor): Promise<CreatedTenant | undefined>
  /** A further welcome link for the administrator. Earlier ones stay valid. */
  welcomeLink(slug: string, actor?: Actor): Promise<CreatedTenant>
}

/** What a list of the operator says of a tenant: nothing that is kept among the tenant's own data. */
export interface TenantEntry {
  tenant: string
  mode: TenantMode
  base_url: string
  created_at: string
  suspended: boolean
  suspended_at?: string
}

/** A tenant's details, in the names of the answer. */
export interface TenantDetails {
  tenant: string
  mode: TenantMode
  display_name: string
  base_url: string
  admin_email: string
  contact_email?: string
  created_at: string
  /** When its administrators first confirmed these details. */
  confirmed_at?: string
  provisioned_at?: string
  live_since?: string
}

/** In requests per minute, by class; only those that were set. */
export type OwnLimits = Partial<Record<RateClass, { per_token: number; per_tenant: number }>>

/** The tenant's own quotas of exports; absent members have the default of the deployment. */
export interface OwnExportQuota {
  exports_per_day?: number
  /** In MiB. */
  mb_kept?: number
}

export interface OperatedTenant extends TenantDetails {
  suspended: boolean
  suspended_at?: string
  limits: OwnLimits
  export_quota: OwnExportQuota
}

/** What changes; what is left out stays. */
export interface TenantChanges {
  display_name?: string | undefined
  admin_email?: string | undefined
  /** `null`: it is served at the common address. */
  base_url?: string | null | undefined
  suspended?: boolean | undefined
  /** `null` takes the tenant's own limit of a class away. */
  limits?: { [C in RateClass]?: { per_token: number; per_tenant: number } | null | undefined } | undefined
  /** `null` goes back to the default. */
  export_quota?: { [Name in keyof OwnExportQuota]?: number | null | undefined } | undefined
}

/** The tenants as the operator sees and changes them. Those that name one throw `not-found` when it does not exist. */
export interface OperatedTenants {
  /** By slug. */
  list(page: {
    limit: number
    cursor?: string | undefined
  }): Promise<{ items: TenantEntry[]; next_cursor: string | null }>
  get(slug: string): Promise<OperatedTenant>
  /**
   * Writes one `tenant.config_changed` where something differs, and none where nothing does. Throws `validation-failed`,
   * and `concurrent-modification` when another tenant is at that address.
   */
  update(slug: string, changes: TenantChanges, actor: Actor): Promise<OperatedTenant>
}

/** Details as they are sent to be kept: what is left out stays, and a contact that is null is taken away. */
export type DetailsSent = Partial<Omit<TenantDetails, 'contact_email'>> & { contact_email?: string | null }

/** The details of a tenant as its administrators see and change them. */
export interface TenantSettings {
  get(caller: Caller): Promise<TenantDetails>
  /** What is wrong with details before they are compared with those that are kept. */
  problemsIn(details: ValidParts<DetailsSent>): PointedError[]
  /**
   * Confirms the details, or changes them: the first time, and whenever something differs, that is an event. Throws
   * `validation-failed` where a member that is not the caller's to change differs.
   */
  replace(caller: Caller, details: DetailsSent): Promise<TenantDetails>
}

/** Times of a tenant, RFC 3339; absent is not yet. */
export interface Milestones {
  provisionedAt?: string
  /** Of the event `tenant.live`. */
  liveSince?: string
}

/** Told after a commit that changed what telemetry is checked against: skills or archetypes of a tenant. */
export type CatalogueChanged = (tenantId: string) => void
