import type { Static } from 'typebox'
import type { JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { ConnectionTestResult } from '../../outbound/connection-test.ts'
import type { Credentials } from '../connectors/connectors-types.ts'
import type { RepublishSchema } from './distribution-schemas.ts'

/** Starts and ends deliveries when connectors change. */
export interface Deliveries {
  /** Adds the delivery of a new connector, due at once. */
  begin(tx: TenantTx, connectorId: string): Promise<void>
  /**
   * Makes a changed connector due, since the cause of a failure may be gone. Another receiver starts without the state
   * of the former.
   */
  renew(tx: TenantTx, connectorId: string, options: { otherReceiver: boolean }): Promise<void>
  /** Removes the delivery of a removed connector and aborts a running publish. */
  end(tx: TenantTx, connectorId: string): Promise<void>
  /** Returns the names of the credentials that such a connector is sent, if set. */
  credentialsSent(connector: ConnectorKind): readonly string[]
}

/** The properties that determine the adapter of a connector. */
export interface ConnectorKind {
  platform: string
  delivery: 'push' | 'pull'
  credentials: Credentials
}

export interface ConnectorTester {
  /** Tests a connector as far as possible. Throws `not-found`. The result does not change the connector's health. */
  test(tenant: Tenant, connectorId: string): Promise<ConnectionTestResult>
}

/** A signed manifest in the form of its delivery. */
export interface SignedManifest {
  /** The manifest as JSON. */
  text: string
  /** Weak: equal tags mean equal skills, although the time of the signature differs. */
  etag: string
}

export interface ManifestReader {
  /**
   * Returns the manifest of a connector. Records a publish if the connector pulls and a service account calls. Throws
   * `not-found`.
   */
  fetch(
    caller: Pick<Caller, 'tenant' | 'sessionId'>,
    connectorId: string,
    ifNoneMatch: string | undefined,
  ): Promise<SignedManifest | { etag: string }>
}

export type RepublishAnswer = Static<typeof RepublishSchema>

/** The result of a republication for one connector. */
export type RepublishResult = RepublishAnswer['results'][number]

export interface Republishing {
  /** Publishes to every connector now. Returns the running republication if there is one. */
  order(caller: Caller): Promise<RepublishAnswer>
  /** Returns the latest republication. Throws `not-found` before the first. */
  latest(tenant: Tenant): Promise<RepublishAnswer>
  /** Returns a republication. Throws `not-found`. */
  get(tenant: Tenant, jobId: string): Promise<RepublishAnswer>
}

/** The reason why a publish failed. */
export interface DeliveryError {
  /**
   * One of `http-4xx`, `http-5xx`, `timeout`, `redirect`, `blocked`, `unreachable`, `too-large`, `credentials`,
   * `unexpected`.
   */
  code: string
  detail: string
  status?: number
  [member: string]: JsonValue | undefined
}
