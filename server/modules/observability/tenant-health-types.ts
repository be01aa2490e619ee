import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

/**
 * The state of single sign-on: whether it is configured, and whether the identity provider responded correctly to the
 * last check.
 */
export interface SsoState {
  configured: boolean
  healthy?: boolean
  /** The time of the check, RFC 3339. */
  checkedAt?: string
  /** A description of the problem. */
  detail?: string
}

/** The facts of the health checks, all as of one moment. Times are RFC 3339. */
export interface HealthFacts {
  tenantSlug: string
  /** The time of the event `tenant.live`. */
  liveSince?: string | undefined
  provisionedAt?: string | undefined
  /** The state of a Mode B tenant's content key; absent in the other modes. */
  contentKey?: 'active' | 'missing' | 'destroyed' | undefined
  sso: SsoState
  scim?: { mode: 'push' | 'pull' } | undefined
  /** Archetypes that groups are mapped to and that the tenant does not have. */
  unknownArchetypes: readonly string[]
  lastSyncedAt?: string | undefined
  connectors: readonly { publishedAt?: string; error?: { detail: string; at: string } }[]
  roster: { users: number; unmatched: number; groups: number }
  skills: { published: number; granted: number; grants: number }
  /** Telemetry records, counted up to a limit. */
  eventsReceived: number
}

/** Reads facts about a tenant from other modules, inside one transaction; `sso` calls the identity provider. */
export interface HealthSources {
  milestones(tx: TenantTx): Promise<{ provisionedAt?: string; liveSince?: string }>
  contentKey(tx: TenantTx, tenant: Tenant): Promise<HealthFacts['contentKey']>
  scim(tx: TenantTx): Promise<{ mode: 'push' | 'pull' } | undefined>
  unknownArchetypes(tx: TenantTx): Promise<HealthFacts['unknownArchetypes']>
  lastSyncedAt(tx: TenantTx): Promise<string | undefined>
  connectors(tx: TenantTx): Promise<HealthFacts['connectors']>
  roster(tx: TenantTx): Promise<HealthFacts['roster']>
  skills(tx: TenantTx): Promise<HealthFacts['skills']>
  /** Returns the number of telemetry records, counted up to `max`. */
  eventsReceived(tx: TenantTx, max: number): Promise<number>
  /** Checks single sign-on. Call it outside of a transaction: it may take as long as the identity provider does. */
  sso(tenant: Tenant): Promise<SsoState>
}
