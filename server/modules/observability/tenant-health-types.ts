import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'

/** How single sign-on is: configured, and whether the identity provider answered as it must when it was last asked. */
export interface SsoState {
  configured: boolean
  healthy?: boolean
  /** RFC 3339 */
  checkedAt?: string
  /** What is wrong, in words. */
  detail?: string
}

/** What is looked at, all as of one moment. Times are RFC 3339. */
export interface HealthFacts {
  tenantSlug: string
  /** Of the event `tenant.live`. */
  liveSince?: string | undefined
  provisionedAt?: string | undefined
  /** Of Mode B: whether content can be written under the customer's key; absent in the other modes. */
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
  /** In words: how it is, or what is missing and what to call. */
  detail: string
}

/** In the names of the answer. */
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

/** What other modules tell about a tenant, each inside the one transaction; `sso` asks the identity provider. */
export interface HealthSources {
  milestones(tx: TenantTx): Promise<{ provisionedAt?: string; liveSince?: string }>
  contentKey(tx: TenantTx, tenant: Tenant): Promise<HealthFacts['contentKey']>
  scim(tx: TenantTx): Promise<{ mode: 'push' | 'pull' } | undefined>
  unknownArchetypes(tx: TenantTx): Promise<HealthFacts['unknownArchetypes']>
  lastSyncedAt(tx: TenantTx): Promise<string | undefined>
  connectors(tx: TenantTx): Promise<HealthFacts['connectors']>
  roster(tx: TenantTx): Promise<HealthFacts['roster']>
  skills(tx: TenantTx): Promise<HealthFacts['skills']>
  /** Telemetry records, counted up to `max`. */
  eventsReceived(tx: TenantTx, max: number): Promise<number>
  /** Not in a transaction: it may take as long as the identity provider does. */
  sso(tenant: Tenant): Promise<SsoState>
}
