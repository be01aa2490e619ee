import type { Static } from 'typebox'
import type { PointedError } from '../../../contract/domain-error.ts'
import type { TenantTx } from '../../db/database.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { RotatedInboundSecret } from '../inbound/inbound-types.ts'
import type { ConnectorBody, ConnectorChangesBody, ConnectorSchema } from './connectors-schemas.ts'

/** A connected platform in the form for other modules. */
export interface Connector {
  connectorId: string
  /** `claude`, …, or `custom:<name>`. */
  platform: string
  displayName: string
  delivery: 'push' | 'pull'
  publishUrl?: string
  /** RFC 3339; time of the last successful publish. */
  publishedAt?: string
  /** Error of the last attempt, if it failed. */
  error?: { detail: string; at: string }
}

export interface Connectors {
  /** Returns all connectors that are not removed. */
  all(tx: TenantTx): Promise<Connector[]>
  /** Returns a connector; undefined if it does not exist or was removed. */
  find(tx: TenantTx, connectorId: string): Promise<Connector | undefined>
}

/** Publishes skills to platforms. */
export interface SkillPublisher {
  /** Publishes in the background, each connector at least every 30 seconds. */
  start(): void
  stop(): Promise<void>
}

/** The credentials of a connector by name: a flat object. */
export type Credentials = Readonly<Record<string, string>>

/** Settings, with the member names of the request body. */
export type ConnectorSettings = Static<typeof ConnectorBody>

export type ConnectorChanges = Static<typeof ConnectorChangesBody>

/** A connector, with the member names of the response. */
export type ConnectorAnswer = Static<typeof ConnectorSchema>

/** Manages connectors. Methods about one connector throw `not-found` if it does not exist or was removed. */
export interface ConnectorAdministration {
  /**
   * Returns further problems of a {@link create} body that already failed validation. A valid body is checked together
   * with the stored settings.
   */
  furtherProblems(sound: ValidParts<ConnectorSettings>, body: ValidParts<ConnectorSettings>): PointedError[]
  /**
   * Connects a platform; the response contains the secret for inbound messages. An existing connector of the same
   * platform and display name gets these settings; without a difference nothing changes and no event is written.
   */
  create(caller: Caller, settings: ConnectorSettings): Promise<ConnectorAnswer>
  list(
    tenant: Tenant,
    page: { limit: number; cursor: string | undefined },
  ): Promise<{ items: ConnectorAnswer[]; next_cursor: string | null }>
  get(tenant: Tenant, connectorId: string): Promise<ConnectorAnswer>
  /** Updates a connector. Throws `concurrent-modification` if another connector of the platform has the name. */
  update(caller: Caller, connectorId: string, changes: ConnectorChanges): Promise<ConnectorAnswer>
  /** Removes a connector. Repeating it returns the same response. */
  remove(caller: Caller, connectorId: string): Promise<{ connector_id: string; removed_at: string }>
  rotate(caller: Caller, connectorId: string, credentials: Record<string, string>): Promise<ConnectorAnswer>
  /** Rotates the secret for its inbound messages. */
  rotateInboundSecret(caller: Caller, connectorId: string): Promise<RotatedInboundSecret>
}

/** Decrypts the credentials of connectors. */
export interface ConnectorCredentials {
  /**
   * Returns the credentials; none without an address. Throws DomainError `hub-unavailable` while the tenant's key is
   * unreachable, `not-found` once it is destroyed, `validation-failed` if they were provided for another origin.
   */
  open(
    tx: TenantTx,
    tenant: Tenant,
    of: { connector_id: string; publish_url: string | null; credentials_sealed: Buffer | null },
  ): Promise<Credentials>
}
