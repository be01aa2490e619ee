import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { Step } from '../../outbound/connection-test.ts'
import type { Credentials } from '../connectors/connectors-types.ts'

/** What is to be delivered, and where. */
export interface Delivery {
  tenant: string
  connectorId: string
  publishUrl?: string
  credentials: Credentials
  manifest: JsonObject
  /** The manifest as it is sent. */
  text: string
  etag: string
  /** What {@link PlatformAdapter.publish} remembered. */
  state: JsonValue
  /** Fires when the connector is removed, its time is over or the process stops. */
  signal: AbortSignal
  /** Keeps the state although the rest may fail. */
  remember(state: JsonValue): Promise<void>
}

/** How skills get onto a kind of platform. */
export interface PlatformAdapter {
  /** For all of a publish, in milliseconds. */
  readonly timeoutMs: number
  /** Names of the credentials that it sends. */
  readonly credentials: readonly string[]
  /** Answers the state to remember. Throws {@link PublishFailure} or OutboundError for what did not work. */
  publish(delivery: Delivery): Promise<JsonValue>
  /** The steps of trying it. */
  test(delivery: Delivery): readonly Step[]
}
