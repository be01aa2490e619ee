import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'

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

export interface HealthCheck {
  ok: boolean
  /** A description: the state, or what is missing and which call adds it. */
  detail: string
}

/** The health in the names of the response. */
export interface TenantHealth {
  tenant_slug: string
  live: boolean
  live_since?: string
  checked_at: string
  checks: {
    identity: HealthCheck & {
      sso_configured: boolean
      sso_healthy: boolean
      sso_checked_at?: string
      scim_configured: boolean
      scim_mode?: 'push' | 'pull'
      last_synced_at?: string
    }
    platforms: HealthCheck & { connected: number; publishing: number; failing: number; last_publish_at?: string }
    hub: HealthCheck & { provisioned: boolean; provisioned_at?: string }
    roster: HealthCheck & { users: number; unmatched: number; groups: number }
    skills: HealthCheck & { published: number; granted: number; grants: number }
    telemetry: HealthCheck & { events_received: number; first_event_at?: string }
  }
}

export interface TenantHealthReader {
  of(caller: Caller): Promise<TenantHealth>
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
