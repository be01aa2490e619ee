import type { PointedError } from '../../../contract/domain-error.ts'
import type { RateClass } from '../../../contract/limits.ts'
import type { TenantMode } from '../../../contract/literals.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { TenantLimits } from '../../http/rate-limits/rate-limit-headers.ts'
import type { Actor } from '../governance/governance-types.ts'
import type { IssuedLink } from '../links/links-types.ts'

/** Limits in requests per minute. */
export interface RateLimit {
  perToken: number
  perTenant: number
}

/** Provides the tenants of this service to other modules. Caches look-ups for a few seconds. */
export interface TenantDirectory {
  /**
   * Returns a tenant. One that is suspended, or whose entry was edited in the database, is returned only with
   * `evenSuspended`: for work that continues for it, such as its proofs. All other callers treat it as unknown.
   */
  find(slug: string, options?: { evenSuspended?: boolean }): Promise<Tenant | undefined>
  /**
   * Returns a tenant without the cache, so that strangers cannot tell by the response time whether a tenant is in use.
   * Suspended tenants are undefined.
   */
  read(slug: string): Promise<Tenant | undefined>
  /** Returns the slugs of all tenants without a cache, for work over all of them. */
  slugs(): Promise<readonly string[]>
  /** Returns the log names of all tenants without a cache. */
  logNames(): Promise<readonly string[]>
  /** Returns the tenant's own limits of `hub tenant limits`, only the classes that were set. */
  limitsOf(slug: string): Promise<TenantLimits>
  /**
   * Returns the Mode C tenant whose own address has this host, with or without the default port; undefined for any
   * other host. Includes suspended tenants, because nobody else is served at their address.
   */
  atHost(host: string): Promise<Tenant | undefined>
  /** Returns the address, without a trailing slash, of the tenants without an own address. */
  commonUrl(): string
}

export interface NewTenant {
  slug: string
  mode: TenantMode
  adminEmail: string
  /** Own address of a Mode C tenant: scheme, host and port. */
  baseUrl?: string | undefined
  /** The name for people; defaults to the slug. */
  displayName?: string | undefined
}

export interface CreatedTenant {
  tenant: Tenant
  adminEmail: string
  welcome: IssuedLink
}

/** Creates tenants and their welcome links for operators. All members throw DomainError; a pointer names the field. */
export interface TenantAdministration {
  /** Returns the problems of a new tenant, regardless of existing tenants. */
  problemsIn(wanted: ValidParts<NewTenant>): PointedError[]
  /**
   * Creates the tenant with its settings, keys and log, and the welcome link of its administrator. It becomes visible
   * in the last step, so repeating the call completes an attempt that crashed. Throws `concurrent-modification` if the
   * tenant or its address exists.
   */
  create(tenant: NewTenant, actor: Actor): Promise<CreatedTenant>
  /** Creates a tenant on a service without tenants, see {@link create}; returns undefined if one exists. */
  createFirst(tenant: NewTenant, actor: Actor): Promise<CreatedTenant | undefined>
  /** Issues a further welcome link for the administrator. Earlier ones stay valid. */
  welcomeLink(slug: string, actor?: Actor): Promise<CreatedTenant>
}

/** The entry of a tenant in the operator's list. It contains nothing that is stored among the tenant's own data. */
export interface TenantEntry {
  tenant: string
  mode: TenantMode
  base_url: string
  created_at: string
  suspended: boolean
  suspended_at?: string
}

/** A tenant's details, with the names of the API. */
export interface TenantDetails {
  tenant: string
  mode: TenantMode
  display_name: string
  base_url: string
  admin_email: string
  contact_email?: string
  created_at: string
  /** The time at which its administrators first confirmed these details. */
  confirmed_at?: string
  provisioned_at?: string
  live_since?: string
}

/** Limits in requests per minute, by class; only those that were set. */
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

/** The changes of a tenant; absent members are unchanged. */
export interface TenantChanges {
  display_name?: string | undefined
  admin_email?: string | undefined
  /** `null`: the common address. */
  base_url?: string | null | undefined
  suspended?: boolean | undefined
  /** `null` removes the tenant's own limit of a class. */
  limits?: { [C in RateClass]?: { per_token: number; per_tenant: number } | null | undefined } | undefined
  /** `null` restores the default. */
  export_quota?: { [Name in keyof OwnExportQuota]?: number | null | undefined } | undefined
}

/** Lists and changes tenants for the operator. Members that name a tenant throw `not-found` if it does not exist. */
export interface OperatedTenants {
  /** Lists tenants in slug order. */
  list(page: {
    limit: number
    cursor?: string | undefined
  }): Promise<{ items: TenantEntry[]; next_cursor: string | null }>
  get(slug: string): Promise<OperatedTenant>
  /**
   * Changes a tenant. Writes one `tenant.config_changed` event if anything differs. Throws `validation-failed`, and
   * `concurrent-modification` if another tenant has that address.
   */
  update(slug: string, changes: TenantChanges, actor: Actor): Promise<OperatedTenant>
}

/** Details as sent: absent members are unchanged, and a null contact is removed. */
export type DetailsSent = Partial<Omit<TenantDetails, 'contact_email'>> & { contact_email?: string | null }

/** Reads and changes the details of a tenant for its administrators. */
export interface TenantSettings {
  get(caller: Caller): Promise<TenantDetails>
  /** Returns the problems of details, before the comparison with the stored ones. */
  problemsIn(details: ValidParts<DetailsSent>): PointedError[]
  /**
   * Confirms or changes the details. The first confirmation and every change write an event. Throws `validation-failed`
   * if a member that the caller may not change differs.
   */
  replace(caller: Caller, details: DetailsSent): Promise<TenantDetails>
}

/** Times of a tenant, RFC 3339; absent until reached. */
export interface Milestones {
  provisionedAt?: string
  /** The time of the event `tenant.live`. */
  liveSince?: string
}
