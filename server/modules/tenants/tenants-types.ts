import type { RateClass } from '../../../contract/limits.ts'
import type { Tenant } from '../../http/caller.ts'

/** Requests per minute. */
export interface RateLimit {
  perToken: number
  perTenant: number
}

/** The tenants of this service as other modules see them. Look-ups are cached for a few seconds. */
export interface TenantDirectory {
  find(slug: string): Promise<Tenant | undefined>
  /** The tenant's own limits of `hub tenant limits`, only the classes that were set. */
  limitsOf(slug: string): Promise<Partial<Record<RateClass, RateLimit>>>
}

/** Told after a commit that changed what telemetry is checked against: skills or archetypes of a tenant. */
export type CatalogueChanged = (tenantId: string) => void
