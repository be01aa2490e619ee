import type { PointedError } from '../../../contract/domain-error.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { ValidParts } from '../../http/valid-parts.ts'
import type { InboundConnection, RotatedInboundSecret } from '../inbound/inbound-types.ts'

/** A connected platform, as other modules see it. */
export interface Connector {
  connectorId: string
  /** `claude`, …, or `custom:<name>`. */
  platform: string
  displayName: string
  delivery: 'push' | 'pull'
  publishUrl?: string
  /** RFC 3339; of the last publish that was taken. */
  publishedAt?: string
  /** Of the last attempt, where it failed. */
  error?: { detail: string; at: string }
}

export interface Connectors {
  /** All that are not removed. */
  all(tx: TenantTx): Promise<Connector[]>
  /** Undefined where it is not there, or was removed. */
  find(tx: TenantTx, connectorId: string): Promise<Connector | undefined>
}

/** Gets skills onto platforms. */
export interface SkillPublisher {
  /** Told after a commit that changed which skills are published, or to whom they are granted. */
  changed(tenant: Pick<Tenant, 'slug'>): void
  /** Publishes in the background, each connector at least every 30 seconds. */
  start(): void
  stop(): Promise<void>
}

/** What a connector is called with, by name: a flat object. */
export type Credentials = Readonly<Record<string, string>>

/** In the names of the body. */
export interface ConnectorSettings {
  platform: string
  display_name: string
  delivery: 'push' | 'pull'
  publish_url?: string
  credentials?: Record<string, string>
}

export type ConnectorChanges = Partial<Omit<ConnectorSettings, 'platform'>>

export type HealthStatus = 'ok' | 'waiting' | 'failing' | 'late'

/** In the names of the answer. */
export interface ConnectorAnswer {
  connector_id: string
  platform: string
  display_name: string
  delivery: 'push' | 'pull'
  publish_url?: string
  manifest_url: string
  /** Names of those that are set. */
  credentials: string[]
  /** Of those, the names that are not sent. */
  unused_credentials?: string[]
  inbound: InboundConnection
  log_name: string
  created_at: string
  created_by: string
  updated_at: string
  health: {
    status: HealthStatus
    last_publish_at?: string
    last_attempt_at?: string
    failures: number
    error?: { code: string; detail: string; at: string; status?: number }
    etag?: string
  }
}

/** What the operations on connectors do. All throw `not-found` for one that is not there, or was removed. */
export interface ConnectorAdministration {
  /** What else is wrong with a body of {@link create} that has faults: a sound one is judged with what is stored. */
  furtherProblems(sound: ValidParts<ConnectorSettings>, body: ValidParts<ConnectorSettings>): PointedError[]
  /**
   * Connects a platform; its answer has the secret of inbound messages. One of the same platform and display name becomes as the settings say; without a difference
   * nothing changes and no event is written.
   */
  create(caller: Caller, settings: ConnectorSettings): Promise<ConnectorAnswer>
  list(
    tenant: Tenant,
    page: { limit: number; cursor: string | undefined },
  ): Promise<{ items: ConnectorAnswer[]; next_cursor: string | null }>
  get(tenant: Tenant, connectorId: string): Promise<ConnectorAnswer>
  /** Throws `concurrent-modification` where another connector of the platform has the name. */
  update(caller: Caller, connectorId: string, changes: ConnectorChanges): Promise<ConnectorAnswer>
  /** Repeating it gives the same answer. */
  remove(caller: Caller, connectorId: string): Promise<{ connector_id: string; removed_at: string }>
  rotate(caller: Caller, connectorId: string, credentials: Record<string, string>): Promise<ConnectorAnswer>
  /** Of its inbound messages. */
  rotateInboundSecret(caller: Caller, connectorId: string): Promise<RotatedInboundSecret>
}

/** Opens what connectors are called with. */
export interface ConnectorCredentials {
  /**
   * None where there is no address to send them to. Throws DomainError `hub-unavailable` while the tenant's key cannot
   * be reached, `not-found` once it is destroyed, `validation-failed` where they were given for another origin.
   */
  open(
    tx: TenantTx,
    tenant: Tenant,
    of: { connector_id: string; publish_url: string | null; credentials_sealed: Buffer | null },
  ): Promise<Credentials>
}
