import type { Static } from 'typebox'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ConnectionTestResult, Step } from '../../outbound/connection-test.ts'
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

export type RepublishResponse = Static<typeof RepublishSchema>

/** The result of a republication for one connector. */
export type RepublishResult = RepublishResponse['results'][number]

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

/** A manifest to deliver, and its receiver. */
export interface Delivery {
  tenant: string
  connectorId: string
  publishUrl?: string
  credentials: Credentials
  manifest: JsonObject
  /** The exact text that is sent. */
  text: string
  etag: string
  /** The state that {@link PlatformAdapter.publish} returned or remembered last. */
  state: JsonValue
  /** Fires if the connector is removed, its time is over or the process stops. */
  signal: AbortSignal
  /** Stores the state even if the rest of the publish fails. */
  remember(state: JsonValue): Promise<void>
}

/** Delivers skills to one kind of platform. */
export interface PlatformAdapter {
  /** Timeout of a whole publish, in milliseconds. */
  readonly timeoutMs: number
  /** Names of the credentials that the adapter sends. */
  readonly credentials: readonly string[]
  /** Publishes and returns the state to remember. Throws {@link PublishFailure} or OutboundError on failure. */
  publish(delivery: Delivery): Promise<JsonValue>
  /** Returns the steps of a connection test. */
  test(delivery: Delivery): readonly Step[]
}

/** Returns the adapter of a connector. */
export type AdapterOf = (connector: ConnectorKind) => PlatformAdapter
