import type { Static } from 'typebox'
import type { TenantMode } from '../../../contract/literals.ts'
import type { Tenant } from '../../http/caller.ts'
import type { TenantLimits } from '../../http/rate-limits/rate-limit-headers.ts'
import type { IssuedLink } from '../links/links-types.ts'
import type {
  OperatedTenantResponse,
  TenantChangesBody,
  TenantDetailsBody,
  TenantDetailsResponse,
} from './tenant-schemas.ts'

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

/** The details of a tenant, with the member names of the response. */
export type TenantDetails = Static<typeof TenantDetailsResponse>

/** Details as sent: absent members are unchanged, and a null contact is removed. */
export type DetailsSent = Static<typeof TenantDetailsBody>

export type OperatedTenant = Static<typeof OperatedTenantResponse>

/** Changes of a tenant: absent members are unchanged; null restores the default. */
export type TenantChanges = Static<typeof TenantChangesBody>

/** The tenant's own quotas of exports; absent members have the default of the deployment. */
export type OwnExportQuota = OperatedTenant['export_quota']
