import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { Step } from '../../outbound/connection-test.ts'
import type { Credentials } from '../connectors/connectors-types.ts'
import type { ConnectorKind } from './distribution-types.ts'

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
