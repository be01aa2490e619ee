import type { JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { ConnectionTestResult } from '../../outbound/connection-test.ts'
import type { Credentials } from '../connectors/connectors-types.ts'

/** The deliveries of connectors, for whoever makes and removes connectors. */
export interface Deliveries {
  /** A new connector: it is published to at once. */
  begin(tx: TenantTx, connectorId: string): Promise<void>
  /** One that was changed: what it failed for may be over. Another receiver knows nothing of what the former was sent. */
  renew(tx: TenantTx, connectorId: string, options: { otherReceiver: boolean }): Promise<void>
  /** One that was removed: what is on its way to it is broken off. */
  end(tx: TenantTx, connectorId: string): Promise<void>
  /** Names of the credentials that are sent to such a connector, where they are set. */
  credentialsSent(connector: ConnectorKind): readonly string[]
}

/** What decides how a connector is delivered to. */
export interface ConnectorKind {
  platform: string
  delivery: 'push' | 'pull'
  credentials: Credentials
}

export interface ConnectorTester {
  /** Goes as far as it gets. Throws `not-found`. What it finds does not change the connector's health. */
  test(tenant: Tenant, connectorId: string): Promise<ConnectionTestResult>
}

/** A signed manifest as it is delivered. */
export interface SignedManifest {
  /** JSON. */
  text: string
  /** Weak: the skills are the same, the time of the signature differs. */
  etag: string
}

export interface ManifestReader {
  /**
   * The manifest of a connector; noted as a publish where the connector pulls and a service account calls. Throws
   * `not-found`.
   */
  fetch(
    caller: Pick<Caller, 'tenant' | 'sessionId'>,
    connectorId: string,
    ifNoneMatch: string | undefined,
  ): Promise<SignedManifest | { etag: string }>
}

export type RepublishStatus = 'queued' | 'running' | 'completed' | 'failed'

/** How a republication reached a connector. */
export interface RepublishResult {
  connector_id: string
  /** `pulls`: it fetches the manifest by itself. */
  status: 'published' | 'failed' | 'removed' | 'pulls'
  at?: string
  error?: { code: string; detail: string; status?: number }
}

export interface RepublishAnswer {
  job_id: string
  status: RepublishStatus
  created_at: string
  created_by: string
  started_at?: string
  finished_at?: string
  progress: { done: number; total: number }
  results: RepublishResult[]
  error?: { detail: string }
}

export interface Republishing {
  /** Publishes to every connector now; answers the one that runs, if one does. */
  order(caller: Caller): Promise<RepublishAnswer>
  /** Throws `not-found` when there was none. */
  latest(tenant: Tenant): Promise<RepublishAnswer>
  /** Throws `not-found`. */
  get(tenant: Tenant, jobId: string): Promise<RepublishAnswer>
}

/** Why a publish was not taken. */
export interface DeliveryError {
  /** `http-4xx`, `http-5xx`, `timeout`, `redirect`, `blocked`, `unreachable`, `too-large`, `credentials`, `unexpected`. */
  code: string
  detail: string
  status?: number
  [member: string]: JsonValue | undefined
}
