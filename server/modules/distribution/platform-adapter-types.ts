import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { Credentials } from '../connectors/connectors-types.ts'
import type { TestStep } from './distribution-types.ts'

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
  /** Answers the state to remember. Throws {@link PublishFailure} or OutboundError for what did not work. */
  publish(delivery: Delivery): Promise<JsonValue>
  /** Tries it, as far as it gets. Never throws for what the other side does. */
  test(delivery: Delivery): Promise<TestStep[]>
}
